// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.Broker;
import io.smqtt.BrokerComposition;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** The sink alone, and as the action of a rule in a broker. */
class CsvSinkTest {

    @TempDir
    Path directory;

    private Sink sink(Map<String, String> settings) {
        CsvSinkFactory factory = new CsvSinkFactory();
        return factory.open(SinkContext.of("test", factory, settings, message -> Mono.empty()));
    }

    private static SinkRecord row(Map<String, Object> columns) {
        return new SinkRecord(columns, ApplicationMessage.builder("t").build());
    }

    @Test
    void rowsAreLinesAndARowWithoutAColumnIsRefused() throws IOException {
        Path file = directory.resolve("rows.csv");
        try (Sink sink = sink(Map.of("path", file.toString(), "columns", "name, t", "separator", "semicolon"))) {
            sink.check().block();
            assertThat(file).doesNotExist();
            BatchResult result = sink.send(List.of(
                            row(Map.of("name", "a;\"b\"", "t", 1L)),
                            row(Map.of("name", "c")),
                            row(Map.of("name", "d", "t", 2.5))))
                    .block();

            assertThat(result.refusals()).containsExactly(new BatchResult.Refusal(1, "a column is absent", false));
            assertThat(Files.readString(file)).isEqualTo("\"a;\"\"b\"\"\";1\nd;2.5\n");
        }
    }

    @Test
    void settingsThatCannotBeUsedAreRefused() {
        assertThatThrownBy(() -> sink(Map.of("columns", "a", "separator", "dot")))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        error -> assertThat(error.problems())
                                .containsExactlyInAnyOrder(
                                        "path must be set", "separator must be comma, semicolon, tab"));
        assertThatThrownBy(() -> sink(Map.of("path", "x", "columns", "a,,b")))
                .hasMessageContaining("columns has a column without a name");
    }

    @Test
    void aRuleWritesWhatItSelects() {
        Path file = directory.resolve("hot.csv");
        ListenerConfig listener =
                ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        RuleActionConfig action = RuleActionConfig.builder("csv")
                .settings(Map.of(
                        "path", new ConfigValue(file.toString(), "", directory),
                        "columns", new ConfigValue("clientid,t", "", directory)))
                .build();
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of("tcp", listener))
                .rules(Map.of(
                        "hot",
                        RuleConfig.builder("SELECT clientid, payload.t AS t FROM \"sensors/#\" WHERE payload.t > 40")
                                .actions(Map.of("out", action))
                                .build()))
                .build();
        Broker broker = BrokerComposition.ofApplication(config, getClass().getClassLoader())
                .start();
        try (RawClient client = RawClient.to(broker.listeners().get("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("kitchen");
            client.publish("sensors/1", "{\"t\": 40}", 1);
            client.publish("sensors/1", "{\"t\": 41}", 1);
            client.publish("sensors/1", "{\"t\": 42}", 1);

            await().untilAsserted(() -> assertThat(file).content().isEqualTo("kitchen,41\nkitchen,42\n"));
        } finally {
            broker.close(Duration.ofSeconds(5)).block();
        }
    }
}
