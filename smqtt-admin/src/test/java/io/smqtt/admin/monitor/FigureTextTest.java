// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.spi.BrokerFigures;
import io.smqtt.spi.DropReason;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FigureTextTest {

    private static final String BEGIN = "event: some\ndata: ";

    private final FigureText text = new FigureText();

    private static String string(byte[] event) {
        return new String(event, StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource({"0,0", "0.004,0", "0.005,0.01", "0.1,0.10", "7,7", "12.345,12.35", "123456789012.5,123456789012.50"})
    void numbersAreRoundedToHundredths(double value, String expected) {
        assertThat(string(text.event("some", all -> all.put("x", value))))
                .isEqualTo(BEGIN + "{\"x\":" + expected + "}\n\n");
    }

    @Test
    void aNegativeNumberIsRefused() {
        assertThatThrownBy(() -> text.event("some", all -> all.put("x", -0.5)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("x is negative");
    }

    @Test
    void objectsAreNestedAndTheTextIsUsedAgain() {
        text.event("other", all -> all.put("before", 1));

        byte[] event = text.event("some", all -> {
            all.put("empty", inner -> {});
            all.put("drops", inner -> {
                inner.put("total", -1);
                inner.put("rate", 1.5);
            });
            all.put("last", 2);
        });

        assertThat(string(event))
                .isEqualTo(BEGIN + "{\"empty\":{},\"drops\":{\"total\":-1,\"rate\":1.50},\"last\":2}\n\n");
    }

    @Test
    void anEventHasTheFiguresOfTheApi() throws Exception {
        BrokerFigures none = new BrokerFigures(0, 0, 0, 0, Map.of(), 0, 0, 0, 0, 0, 0, 0, 0);
        BrokerFigures some =
                new BrokerFigures(7, 700, 21, 2_100, Map.of(DropReason.OFFLINE, 3L), 4, 2, 5, 6, 1, 8, 9, 10);
        Monitor.Pair pair = new Monitor.Pair(
                new Reading(0, 0, none, 0, 0, 0), new Reading(3_000, 3_000_000_000L, some, 90, 1, 3_000));

        String event = string(text.event("some", pair::putTo));

        ObjectMapper mapper = new ObjectMapper();
        assertThat(mapper.readValue(event.substring(BEGIN.length()), Map.class))
                .usingRecursiveComparison()
                .ignoringFieldsMatchingRegexes(".*_rate", "cpu", "dropped_by_reason")
                .isEqualTo(mapper.readValue(mapper.writeValueAsBytes(pair.fields()), Map.class));
        assertThat(event).contains("\"received_msg_rate\":2.33,", "\"offline\":{\"total\":3,\"rate\":1}");
        assertThat(pair.fields())
                .containsEntry("received_msg_rate", 2.33)
                .containsEntry("dropped_by_reason", Map.of("offline", Map.of("total", 3L, "rate", 1.0)));
    }
}
