// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.SinkException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LineProtocolTest {

    private static Map<String, RowTemplate> templates(String... pairs) {
        Map<String, RowTemplate> templates = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            templates.put(pairs[i], RowTemplate.parse(pairs[i + 1]));
        }
        return templates;
    }

    private static LineProtocol points(@Nullable String time) {
        return new LineProtocol(
                RowTemplate.parse("${m}"),
                templates("dev ice", "${d}", "none", "${x}"),
                templates("t", "${t}", "n", "${n}", "s", "${s}", "b", "${b}", "mixed", "v${n}", "absent", "${y}"),
                time == null ? null : RowTemplate.parse(time));
    }

    @Test
    void valuesKeepTheirTypesAndNamesAreEscaped() {
        Map<String, Object> row =
                Map.of("m", "a b,c", "d", "x=1, y\nz", "t", 1.5, "n", 7L, "s", "say \"\\\"", "b", true, "at", 1700L);

        assertThat(points("${at}").line(row))
                .isEqualTo(
                        "a\\ b\\,c,dev\\ ice=x\\=1\\,\\ y\\ z t=1.5,n=7i,s=\"say \\\"\\\\\\\"\",b=true,mixed=\"v7\" 1700");
    }

    @Test
    void columnsAreFieldsIfNoneAreNamed() {
        LineProtocol all = new LineProtocol(RowTemplate.parse("m"), Map.of(), Map.of(), null);

        assertThat(all.line(Map.of("t", 2L))).isEqualTo("m t=2i");
    }

    @Test
    void rowWithoutMeasurementFieldOrNumberIsRefused() {
        LineProtocol all = new LineProtocol(RowTemplate.parse("m"), Map.of(), Map.of(), null);

        assertThatThrownBy(() -> all.line(Map.of())).isInstanceOf(SinkException.class);
        assertThatThrownBy(() -> all.line(Map.of("t", Double.NaN))).isInstanceOf(SinkException.class);
        assertThatThrownBy(() -> points(null).line(Map.of("t", 1L))).isInstanceOf(SinkException.class);
        assertThatThrownBy(() -> points("${at}").line(Map.of("m", "m", "t", 1L, "at", "now")))
                .isInstanceOf(SinkException.class);
    }
}
