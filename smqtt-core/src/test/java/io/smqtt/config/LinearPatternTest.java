// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions that would take all memory are refused before they are compiled; those that people write are not. */
class LinearPatternTest {

    private static final int MAX_STEPS = 2_000;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "((([[:alpha:])))]a{300}b){300}b){300}b){300}",
                "((((([\\])))))]{30}a){30}a){30}a){30}a){30}a){30}",
                "(((((a{30}){30}){30}){30}){30}){30}",
                "(a{1000}){3}",
                "((a{100,}){100,}){100,}",
                "(?:(?:x[)]{0,99}){0,99}){99}",
                "\\Q(\\E(a{50}\\){50}){50}",
                "a{1000}b{1000}c{1000}",
                "(a|b{2,}){1000}",
                "(((((a{50}){50}){50}){50}"
            })
    void whatGrowsIsTooLarge(String text) {
        Assertions.assertTimeoutPreemptively(
                Duration.ofSeconds(5),
                () -> assertThatThrownBy(() -> LinearPattern.compile(text, MAX_STEPS))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageStartingWith("is too large"));
    }

    @Test
    void deepGroupsAndLongTextsAreTooLarge() {
        assertThatThrownBy(() -> LinearPattern.compile("(".repeat(900) + "a" + ")".repeat(900), MAX_STEPS))
                .hasMessageStartingWith("is too large");
        assertThatThrownBy(() -> LinearPattern.compile("a".repeat(MAX_STEPS + 1), MAX_STEPS))
                .hasMessageStartingWith("is too large");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "^x/y/(.+)$",
                "\\x{4000}\\p{Greek}",
                "^(a+)+$",
                "^y/(.+)/z/(.+)$",
                "[]a{5}{]{3}",
                "{,5}{x}",
                "(?i)[a-z0-9._%+-]{1,64}@(?:[a-z0-9-]{1,63}\\.){1,8}[a-z]{2,63}",
                "(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}|([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}",
                "([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}"
                        + "|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}",
            })
    void whatPeopleWriteIsNot(String text) {
        if (text.contains("(?!")) {
            assertThatThrownBy(() -> LinearPattern.compile(text, MAX_STEPS))
                    .hasMessageStartingWith("is no regular expression");
        } else {
            assertThat(LinearPattern.compile(text, MAX_STEPS).pattern()).isEqualTo(text);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"(", ")", "[", "\\", "a**", "(?=a)", "\\1", "a{1001}", "x{2}{3}{"})
    void whatIsMalformedIsRefusedOrText(String text) {
        try {
            assertThat(LinearPattern.compile(text, MAX_STEPS).pattern()).isEqualTo(text);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageStartingWith("is no regular expression");
        }
    }
}
