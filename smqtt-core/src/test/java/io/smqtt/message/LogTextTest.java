// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LogTextTest {

    @Test
    void ordinaryTextIsReturnedAsItIs() {
        String text = "sensor/Zürich/温度 😀 \\ \"";

        assertThat(LogText.escape(text)).isSameAs(text);
    }

    @ParameterizedTest
    @CsvSource({
        "000a, \\u000a", "000d, \\u000d", "0000, \\u0000", "001b, \\u001b", "007f, \\u007f", "009b, \\u009b",
        "2028, \\u2028", "202e, \\u202e", "2066, \\u2066", "200b, \\u200b", "feff, \\ufeff", "d83d, \\ud83d",
        "de00, \\ude00", "ffff, \\uffff"
    })
    void unsafeCharacterIsWrittenInHexadecimal(String hex, String escaped) {
        char c = (char) Integer.parseInt(hex, 16);

        assertThat(LogText.escape("a" + c + "b")).isEqualTo("a" + escaped + "b");
    }

    @Test
    void longTextEndsWithAnEllipsis() {
        String escaped = LogText.escape("x".repeat(300));

        assertThat(escaped).isEqualTo("x".repeat(256) + "…");
    }

    @Test
    void textOfControlCharactersStaysShort() {
        assertThat(LogText.escape("\n".repeat(65_535))).hasSize(257).endsWith("…");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "a\nb\u001b[31m", "\ud83d", "x\u202ey"})
    void secondApplicationChangesNothing(String text) {
        String once = LogText.escape(text.repeat(100));

        assertThat(LogText.escape(once)).isEqualTo(once);
    }

    @Test
    void absentTextIsShownAsAHyphen() {
        assertThat(LogText.escape(null)).isEqualTo("-");
    }
}
