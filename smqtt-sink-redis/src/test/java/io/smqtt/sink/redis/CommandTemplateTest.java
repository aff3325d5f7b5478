// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.smqtt.rules.sink.RowTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandTemplateTest {

    @Test
    void eachWordIsOneArgumentWhateverTheValuesAre() {
        Map<String, Object> row = new TreeMap<>(Map.of(
                "id", "a b\" \r\nDEL x\r\n", "t", 1.5, "map", Map.of("a", 1L), "bytes", new byte[] {(byte) 0xff}));

        assertThat(words("xadd in:${id} * t ${t} \"two ${ id } \\\" words\" ${map} ${none}", row))
                .containsExactly(
                        "XADD",
                        "in:a b\" \r\nDEL x\r\n",
                        "*",
                        "t",
                        "1.5",
                        "two a b\" \r\nDEL x\r\n \" words",
                        "{\"a\":1}",
                        "undefined");
        assertThat(encoded("SET k ${bytes}", row)).contains("$1\r\n\u00ff\r\n");
        assertThat(words("SET k \"\"", row)).containsExactly("SET", "k", "");
    }

    @Test
    void theKeyOfAScriptIsBehindTheNumberOfKeys() {
        assertThat(firstKey("EVAL \"return 1\" 1 ${id} x")).isEqualTo("device");
        assertThat(firstKey("SET ${id} x")).isEqualTo("device");
        assertThat(firstKey("FCALL_RO f 1 ${id} x")).isEqualTo("device");
    }

    @ParameterizedTest
    @CsvSource({
        "SET fixed ${t}, true",
        "SET dev:${id} 1, false",
        "JSON.SET fixed $ ${t}, true",
        "MSET fixed ${t} dev:${id} 1, false",
        "MSET fixed 1 other 2, true",
        "RENAME fixed ${id}, false",
        "EVAL script 1 fixed ${t}, true",
        "EVAL script 2 fixed dev:${id} 1, false",
        "EVAL script ${t} fixed fixed, false",
        "FCALL f 0 ${t}, true",
        "EVAL_RO script 1 fixed ${t}, true",
        "EVAL_RO script 1 dev:${id}, false",
        "FCALL_RO f 1 dev:${id}, false",
        "JSON.MSET fixed $ 1 dev:${id} $ 1, false",
        "TS.MADD fixed * 1 dev:${id} * 1, false",
        "MSETEX 2 fixed 1 dev:${id} 1, false",
        "SOME.COMMAND fixed ${t}, false",
        "XADD fixed * t ${t}, true",
        "PUBLISH fixed ${t}, true"
    })
    void keysAreFixedIfNoneHasAPlaceholder(String text, boolean fixed) {
        assertThat(parse(text).hasFixedKeys()).isEqualTo(fixed);
    }

    private static String firstKey(String text) {
        return UTF_8.decode(
                        parse(text).command(Map.of("id", "device")).getArgs().getFirstEncodedKey())
                .toString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "PING | must be the name of a command and its arguments",
                "~ ~ | must be the name of a command and its arguments",
                "${id} a | must be the name of a command and its arguments",
                "SET k \"a | has a quote that is not closed, or inside of a word",
                "SET k a\"b\" | has a quote that is not closed, or inside of a word",
                "SET k \"a\"b | has a quote that is not closed, or inside of a word",
                "subscribe ${id} | cannot be SUBSCRIBE, which blocks or changes the connection",
                "BLPOP a 0 | cannot be BLPOP",
                "SELECT 1 | cannot be SELECT",
            })
    void commandsThatCannotBeSentAreRefused(String text, String problem) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
    }

    private static CommandTemplate parse(String text) {
        return CommandTemplate.parse(text, RowTemplate::parse);
    }

    private static String encoded(String text, Map<String, Object> row) {
        ByteBuf buffer = Unpooled.buffer();
        parse(text).command(row).encode(buffer);
        return buffer.toString(java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    /** The words of the protocol, by their lengths. */
    private static List<String> words(String text, Map<String, Object> row) {
        String rest = encoded(text, row);
        int count = Integer.parseInt(rest.substring(1, rest.indexOf('\r')));
        rest = rest.substring(rest.indexOf('\n') + 1);
        List<String> words = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int length = Integer.parseInt(rest.substring(1, rest.indexOf('\r')));
            int from = rest.indexOf('\n') + 1;
            words.add(rest.substring(from, from + length));
            rest = rest.substring(from + length + 2);
        }
        assertThat(rest).isEmpty();
        return words;
    }
}
