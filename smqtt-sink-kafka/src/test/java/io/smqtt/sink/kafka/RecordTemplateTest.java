// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class RecordTemplateTest {

    private static RecordTemplate template(String... pairs) {
        return template((Set<String>) null, pairs);
    }

    private static RecordTemplate template(@Nullable Set<String> columns, String... pairs) {
        String[] all = Stream.concat(Stream.of("bootstrap-servers", "127.0.0.1:9092"), Stream.of(pairs))
                .toArray(String[]::new);
        return new RecordTemplate(SinkContract.context(new KafkaSinkFactory(), message -> Mono.empty(), columns, all));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static Map<String, Object> row() {
        Map<String, Object> row = new HashMap<>();
        row.put("name", "a \"b\"");
        row.put("t", 21.5);
        row.put("at", 1_700_000_000_123L);
        row.put("raw", new byte[] {0, -1});
        return row;
    }

    @Test
    void byDefaultTheRowIsTheValue() {
        ProducerRecord<byte[], byte[]> record = template("topic", "plant").record(Map.of("t", 21.5));

        assertThat(record.topic()).isEqualTo("plant");
        assertThat(record.key()).isNull();
        assertThat(record.partition()).isNull();
        assertThat(record.timestamp()).isNull();
        assertThat(text(record.value())).isEqualTo("{\"t\":21.5}");
        assertThat(record.headers()).isEmpty();
    }

    @Test
    void keyHeadersAndTimeAreFilledIn() {
        ProducerRecord<byte[], byte[]> record = template(
                        "topic", "plant-${t}",
                        "key", "${name}",
                        "value", "{\"n\": \"${name}\", \"t\": ${t}, \"none\": ${none}}",
                        "timestamp", "${at}",
                        "headers.raw", "${raw}",
                        "headers.absent", "${none}",
                        "headers.both", "${t} ${t}")
                .record(row());

        assertThat(record.topic()).isEqualTo("plant-21.5");
        assertThat(text(record.key())).isEqualTo("a \"b\"");
        assertThat(text(record.value())).isEqualTo("{\"n\": \"a \\\"b\\\"\", \"t\": 21.5, \"none\": null}");
        assertThat(record.timestamp()).isEqualTo(1_700_000_000_123L);
        assertThat(StreamSupport.stream(record.headers().spliterator(), false).map(header -> header.key()))
                .containsExactly("raw", "both");
        assertThat(record.headers().lastHeader("raw").value()).containsExactly(0, -1);
        assertThat(text(record.headers().lastHeader("both").value())).isEqualTo("21.5 21.5");
    }

    @Test
    void bytesStayAsTheyAre() {
        assertThat(template("topic", "t", "value", "${raw}").record(row()).value())
                .containsExactly(0, -1);
        assertThat(text(template("topic", "t", "value", "${none}").record(row()).value()))
                .isEqualTo("undefined");
        assertThat(template("topic", "t", "key", "${none}").record(row()).key()).isNull();
    }

    @Test
    void wrongTopicsAndTimesAreOfTheRow() {
        assertThatThrownBy(() -> template("topic", "${name}").record(row()))
                .isInstanceOfSatisfying(
                        SinkException.class,
                        error -> assertThat(error.isRecoverable()).isFalse())
                .hasMessage("the topic is not valid in Kafka");
        assertThatThrownBy(() -> template("topic", "t", "timestamp", "${name}").record(row()))
                .hasMessage("the timestamp is no number of milliseconds");
        assertThatThrownBy(() -> template("topic", "a/b"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("topic must have letters");
    }

    @Test
    void placeholdersMustBeColumns() {
        for (String key : List.of("topic", "key", "value", "timestamp")) {
            String[] pairs = key.equals("topic")
                    ? new String[] {"topic", "${temp}"}
                    : new String[] {"topic", "t", key, "${temp}"};
            assertThatThrownBy(() -> template(Set.of("t"), pairs))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessage("test: rules.r.actions.a." + key
                            + " has the placeholder ${temp}, but the rule has only the columns t");
        }
    }
}
