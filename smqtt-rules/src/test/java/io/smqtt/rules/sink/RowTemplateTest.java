// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RowTemplateTest {

    private static final Map<String, Object> ROW = Map.of(
            "t",
            21.5,
            "n",
            7L,
            "on",
            true,
            "name",
            "a \"b\"\n/ü",
            "payload",
            "{\"x\": {\"y\": [1, {\"z\": \"deep\"}]}}",
            "list",
            List.of("p", "q"),
            "map",
            Map.of("k", "v"));

    @Test
    void textHasTheValues() {
        assertThat(RowTemplate.parse("${t}/${n}/${on}/${map.k}/${list[2]}/${missing}")
                        .text(ROW))
                .isEqualTo("21.5/7/true/v/q/undefined");
    }

    @Test
    void textThatIsJsonHasMembers() {
        assertThat(RowTemplate.parse("${payload.x.y[2].z} ${payload.x.y}").text(ROW))
                .isEqualTo("deep [1,{\"z\":\"deep\"}]");
    }

    @Test
    void jsonStaysJson() {
        assertThat(RowTemplate.parse(
                                "{\"a\": ${name}, \"b\": \"<${name}>\", \"c\": ${t}, \"d\": ${none}, \"e\": ${map}}")
                        .json(ROW))
                .isEqualTo("{\"a\": \"a \\\"b\\\"\\n/ü\", \"b\": \"<a \\\"b\\\"\\n/ü>\", \"c\": 21.5, \"d\": null,"
                        + " \"e\": {\"k\":\"v\"}}");
    }

    @Test
    void urlIsEncoded() {
        assertThat(RowTemplate.parse("http://h/${name}").url(ROW)).isEqualTo("http://h/a%20%22b%22%0A%2F%C3%BC");
    }

    @Test
    void placeholderAloneKeepsItsType() {
        assertThat(RowTemplate.parse("${n}").value(ROW)).isEqualTo(7L);
        assertThat(RowTemplate.parse("${.}").value(ROW)).isEqualTo(ROW);
        assertThat(RowTemplate.parse("${n}.").value(ROW)).isEqualTo("7.");
        assertThat(RowTemplate.parse("plain").value(ROW)).isEqualTo("plain");
        assertThat(RowTemplate.parse("${list[3]}").value(ROW)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"${", "${a", "${}", "${a[}", "${a[x]}", "${a..b}", "${a.}"})
    void wrongPlaceholderIsRefused(String text) {
        assertThatThrownBy(() -> RowTemplate.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
