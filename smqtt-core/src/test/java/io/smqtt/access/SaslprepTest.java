// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SaslprepTest {

    /** The examples of RFC 4013, section 3. */
    @Test
    void preparesTheExamplesOfTheRfc() {
        assertThat(Saslprep.prepare("I\u00ADX")).isEqualTo("IX");
        assertThat(Saslprep.prepare("user")).isEqualTo("user");
        assertThat(Saslprep.prepare("USER")).isEqualTo("USER");
        assertThat(Saslprep.prepare("\u00AA")).isEqualTo("a");
        assertThat(Saslprep.prepare("\u2168")).isEqualTo("IX");
        assertThat(Saslprep.prepare("\u0007")).isNull();
        assertThat(Saslprep.prepare("\u0627\u0031")).isNull();
    }

    @Test
    void spacesBecomeOneKindAndAccentsOneForm() {
        assertThat(Saslprep.prepare("a\u00A0b\u3000c")).isEqualTo("a b c");
        assertThat(Saslprep.prepare("e\u0301")).isEqualTo("\u00E9");
        assertThat(Saslprep.prepare("\u0627\u0031\u0628")).isEqualTo("\u0627\u0031\u0628");
        assertThat(Saslprep.prepare("\uD83D\uDD11")).isEqualTo("\uD83D\uDD11");
        assertThat(Saslprep.prepare("\u00AD")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\0",
                "\u007F",
                "\u0085",
                "\u2028",
                "\u200E",
                "\uE000",
                "\uFDD0",
                "\uFFFE",
                "\uFFFD",
                "\u2FF0",
                "\u0627a\u0628"
            })
    void refusesWhatIsProhibited(String text) {
        assertThat(Saslprep.prepare(text)).isNull();
    }

    @Test
    void refusesBytesThatAreNotUtf8() {
        assertThat(Saslprep.prepare(new byte[] {'a', (byte) 0xC3})).isNull();
        assertThat(Saslprep.prepare("é".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("é".getBytes(StandardCharsets.UTF_8));
    }
}
