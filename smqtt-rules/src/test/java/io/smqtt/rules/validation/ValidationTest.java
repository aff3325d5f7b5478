// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ValidationConfig;
import io.smqtt.config.ValidationConfig.FailureAction;
import io.smqtt.config.ValidationConfig.Strategy;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.PayloadChecks;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Payloads below "sensors" have a temperature, those below "any" one of two forms; below "strict" clients are disconnected, below "loose" nothing is refused. */
class ValidationTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final String TEMPERATURE = """
            {"type": "object", "required": ["temp"],
             "properties": {"temp": {"type": "integer", "minimum": -50, "maximum": 100}, "unit": {"pattern": "^(a+)+$"}}}
            """;
    private static final Path FOLDER = folder();

    /** No matching subscribers. */
    private static final int ACCEPTED = 0x10;

    private final List<String> outcomes = new CopyOnWriteArrayList<>();

    private ValidationModule module;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config.validations(validations()), parts -> {
        module = ValidationModule.of(
                BrokerConfig.builder().validations(validations()).build());
        return parts.module(module).interceptor(module).observer(new BrokerObserver() {
            @Override
            public void payloadValidated(String validation, String outcome) {
                outcomes.add(validation + " " + outcome);
            }
        });
    });

    private static Path folder() {
        try {
            Path folder = Files.createTempDirectory("smqtt-schemas");
            Files.writeString(folder.resolve("temp.json"), TEMPERATURE);
            Files.writeString(folder.resolve("text.json"), "{\"type\": \"string\"}");
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, ValidationConfig> validations() {
        Map<String, ValidationConfig> all = new LinkedHashMap<>();
        all.put(
                "sensors",
                ValidationConfig.builder(FOLDER, "temp.json", "sensors/#")
                        .redirectTopic("wrong")
                        .maxPayloadBytes(2_000)
                        .build());
        all.put(
                "any",
                ValidationConfig.builder(FOLDER, "temp.json", "any/+", "other")
                        .schemas(List.of("temp.json", "text.json"))
                        .strategy(Strategy.ANY)
                        .build());
        all.put(
                "strict",
                ValidationConfig.builder(FOLDER, "temp.json", "strict")
                        .failureAction(FailureAction.DISCONNECT)
                        .build());
        all.put(
                "live",
                ValidationConfig.builder(FOLDER, "live", "live").folder(null).build());
        all.put(
                "loose",
                ValidationConfig.builder(FOLDER, "temp.json", "loose")
                        .failureAction(FailureAction.IGNORE)
                        .build());
        all.put(
                "sql",
                statement(
                        "SELECT payload.temp AS t FROM \"#\" WHERE t < 100 AND topic = 'sql/warm' AND clientid = 'c'",
                        "sql/+"));
        String yes = "SELECT * FROM \"#\" WHERE topic =~ '+/yes'";
        all.put(
                "either",
                ValidationConfig.builder(FOLDER, "temp.json", "either/+")
                        .sql(yes)
                        .strategy(Strategy.ANY)
                        .build());
        all.put(
                "both",
                ValidationConfig.builder(FOLDER, "temp.json", "both/+").sql(yes).build());
        return all;
    }

    private static ValidationConfig statement(String sql, String topic) {
        return ValidationConfig.builder(FOLDER, "temp.json", topic)
                .folder(null)
                .schemas(List.of())
                .sql(sql)
                .build();
    }

    private static int publish(RawClient client, String topic, String payload) {
        return client.send(PublishBytes.to(topic).qos(1, 1).payload(payload))
                .expect(MqttMessageType.PUBACK)
                .reasonCode();
    }

    @Test
    void aValidPayloadIsPublishedAndAnotherOneIsRefusedAndRedirected() {
        RawClient subscriber = broker.client(V5, "s");
        subscriber.subscribe("#", 0);
        RawClient client = broker.client(V5, "c");

        assertThat(publish(client, "sensors/1", "{\"temp\": 20}")).isZero();
        assertThat(publish(client, "sensors/1", "{\"temp\": 200}")).isEqualTo(0x83);
        assertThat(publish(client, "free", "no JSON")).isZero();

        subscriber.expectPublish("sensors/1", "{\"temp\": 20}");
        ReceivedPacket wrong = subscriber.expectPublish("wrong", "{\"temp\": 200}");
        assertThat(wrong.retain()).isFalse();
        subscriber.expectPublish("free", "no JSON");
        subscriber.expectNothing();
        assertThat(outcomes).containsExactly("sensors passed", "sensors failed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "{\"temp\": \"warm\"}",
                "{\"temp\": 1} x",
                "null",
                "{\"temp\":1,\"unit\":\"b\"}",
                "{\"temp\":1,\"temp\":200,\"temp\":2}"
            })
    void whatIsNotOfTheSchemaIsRefused(String payload) {
        assertThat(publish(broker.client(V5, "c"), "sensors/1", payload)).isEqualTo(0x83);
    }

    @ParameterizedTest
    @ValueSource(ints = {90, 101, 30_000})
    void aDeepPayloadCostsNoMoreThanItsRefusal(int depth) {
        checks().putSchema("live", "{\"items\": {\"$ref\": \"#\"}}");
        String payload = "[".repeat(depth) + "]".repeat(depth);
        assertThat(publish(broker.client(V5, "c"), "live", payload)).isEqualTo(depth > 100 ? 0x83 : 0x10);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"$ref\": \"#\"}",
                "{\"anyOf\": [{\"$ref\": \"#\"}]}",
                "{\"multipleOf\": 1e-300}",
                "{\"type\": 7}",
                "{"
            })
    void aSchemaThatCannotBeAppliedRefusesThePayload(String schema) {
        checks().putSchema("live", schema);
        RawClient client = broker.client(V5, "c");
        assertThat(publish(client, "live", "1e999")).isEqualTo(0x83);
        assertThat(outcomes).containsExactly("live failed");
    }

    @Test
    void aSchemaOfOperatorsDecidesFromThenOn() {
        RawClient client = broker.client(V5, "c");
        assertThat(publish(client, "live", "1")).as("none yet").isEqualTo(0x83);
        checks().putSchema("live", "{\"type\": \"integer\"}");
        assertThat(publish(client, "live", "1")).isLessThan(0x80);
        assertThat(publish(client, "live", "true")).isEqualTo(0x83);
        checks().putSchema("live", "{\"type\": \"boolean\"}");
        assertThat(publish(client, "live", "true")).isLessThan(0x80);
        checks().removeSchema("live");
        assertThat(publish(client, "live", "true")).isEqualTo(0x83);
        assertThatThrownBy(() -> checks().testSchema("{\"type\": 7}")).isInstanceOf(IllegalArgumentException.class);
    }

    private PayloadChecks checks() {
        return module.payloadChecks();
    }

    @Test
    void checksOfOperatorsAreInForceFromThenOn() {
        RawClient client = broker.client(V5, "c");
        assertThat(publish(client, "free", "{\"temp\": 200}")).isEqualTo(ACCEPTED);
        checks().replace(Map.of("warm", statement("SELECT * FROM \"#\" WHERE payload.temp < 100", "free")));
        assertThat(publish(client, "free", "{\"temp\": 20}")).isEqualTo(ACCEPTED);
        assertThat(publish(client, "free", "{\"temp\": 200}")).isEqualTo(0x83);
        assertThat(publish(client, "sensors/1", "{\"temp\": 200}"))
                .as("of the configuration")
                .isEqualTo(0x83);
        checks().replace(Map.of("broken", statement("SELECT", "free")));
        assertThat(publish(client, "free", "{\"temp\": 200}")).as("left out").isEqualTo(ACCEPTED);
        assertThatThrownBy(() -> checks().test("broken", statement("SELECT", "free")))
                .isInstanceOf(ConfigurationException.class);
        assertThat(outcomes).containsExactly("warm passed", "warm failed", "sensors failed");
    }

    @Test
    void withoutAnyCheckNoMessageIsTouched() {
        ValidationModule none = ValidationModule.of(BrokerConfig.defaults());
        assertThat(none.isIdle()).isTrue();
        none.payloadChecks().replace(Map.of("x", statement("SELECT * FROM \"#\"", "free")));
        assertThat(none.isIdle()).isFalse();
        none.payloadChecks().replace(Map.of());
        assertThat(none.isIdle()).isTrue();
    }

    @Test
    void aPatternTakesNoTimeThatGrowsWithoutBound() {
        String text = "{\"temp\":1,\"unit\":\"" + "a".repeat(1_000) + "!\"}";
        assertThat(publish(broker.client(V5, "c"), "sensors/1", text)).isEqualTo(0x83);
        assertThat(outcomes).containsExactly("sensors failed");
    }

    @Test
    void aPayloadAboveTheLimitIsNotRead() {
        assertThat(publish(broker.client(V5, "c"), "sensors/1", "{\"temp\": 1}" + " ".repeat(2_000)))
                .isEqualTo(0x83);
    }

    @Test
    void oneOfSeveralSchemasIsEnough() {
        RawClient client = broker.client(V5, "c");
        assertThat(publish(client, "any/1", "\"text\"")).isLessThan(0x80);
        assertThat(publish(client, "other", "{\"temp\": 20}")).isLessThan(0x80);
        assertThat(publish(client, "any/1", "20")).isEqualTo(0x83);
    }

    @Test
    void aClientIsDisconnected() {
        RawClient client = broker.client(V5, "c");
        assertThat(publish(client, "strict", "{\"temp\": 1}")).isLessThan(0x80);
        client.send(PublishBytes.to("strict").payload("x"));
        ReceivedPacket last = client.expect(MqttMessageType.DISCONNECT);
        assertThat(last.reasonCode()).isEqualTo(0x98);
    }

    @Test
    void whatIsIgnoredIsPublished() {
        RawClient client = broker.client(V5, "c");
        client.subscribe("loose", 0);
        client.send(PublishBytes.to("loose").payload("x"));
        client.expectPublish("loose", "x");
        assertThat(outcomes).containsExactly("loose failed");
    }

    @Test
    void theOrderOfAClientIsKept() {
        RawClient subscriber = broker.client(V5, "s");
        subscriber.subscribe("+/1", 0);
        RawClient client = broker.client(V5, "c");
        for (int i = 0; i < 100; i++) {
            client.send(PublishBytes.to(i % 3 == 0 ? "free/1" : "sensors/1").payload("{\"temp\": " + i + "}"));
        }
        for (int i = 0; i < 100; i++) {
            subscriber.expectPublish(i % 3 == 0 ? "free/1" : "sensors/1", "{\"temp\": " + i + "}");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[",
                "7",
                "{\"type\": 7}",
                "{\"pattern\": \"(\"}",
                "{\"pattern\": \"((a{900}){900}){900}\"}",
                "{\"minimum\": \"x\"}",
                "{\"$schema\": \"http://127.0.0.1:1/other\"}",
                "{\"$ref\": \"#/$defs/none\"}",
                "{\"$ref\": \"file:///etc/hostname\"}",
                "{\"properties\": {\"a\": {\"patternProperties\": {\"(?=a)\": true}}}}",
                "{\"$ref\": \"http://127.0.0.1:1/other.json\"}"
            })
    void aSchemaThatCannotBeUsedStopsTheStart(String text, @TempDir Path directory) throws IOException {
        Files.writeString(directory.resolve("a.json"), text);
        BrokerConfig config = BrokerConfig.builder()
                .validations(Map.of(
                        "x", ValidationConfig.builder(directory, "a.json", "t").build()))
                .build();
        assertThatThrownBy(() -> ValidationModule.of(config))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("validations.x.schemas")
                .hasMessageContaining("a.json");
    }

    @Test
    void aPayloadIsValidIfTheStatementSelectsTheMessage() {
        RawClient client = broker.client(V5, "c");

        assertThat(publish(client, "sql/warm", "{\"temp\": 20}")).isEqualTo(ACCEPTED);
        assertThat(publish(client, "sql/warm", "{\"temp\": 200}")).isEqualTo(0x83);
        assertThat(publish(client, "sql/cold", "{\"temp\": 20}")).isEqualTo(0x83);
        assertThat(publish(client, "sql/warm", "no JSON")).isEqualTo(0x83);
        assertThat(publish(broker.client(V5, "other"), "sql/warm", "{\"temp\": 20}"))
                .isEqualTo(0x83);
    }

    /** The schema wants an integer, the statement a topic that ends with "yes". */
    @Test
    void aStatementCountsLikeOneMoreSchema() {
        RawClient client = broker.client(V5, "c");

        assertThat(publish(client, "either/no", "{\"temp\": 20}")).isEqualTo(ACCEPTED);
        assertThat(publish(client, "either/yes", "{\"temp\": 20.5}")).isEqualTo(ACCEPTED);
        assertThat(publish(client, "either/no", "{\"temp\": 20.5}")).isEqualTo(0x83);
        assertThat(publish(client, "both/yes", "{\"temp\": 20}")).isEqualTo(ACCEPTED);
        assertThat(publish(client, "both/no", "{\"temp\": 20}")).isEqualTo(0x83);
        assertThat(publish(client, "both/yes", "{\"temp\": 20.5}")).isEqualTo(0x83);
    }

    @Test
    void aStatementThatIsNotValidStopsTheStart() {
        BrokerConfig config = BrokerConfig.builder()
                .validations(Map.of("x", statement("SELECT * FROM", "t")))
                .build();
        assertThatThrownBy(() -> ValidationModule.of(config))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("validations.x.sql has a mistake: line 1");
    }

    @Test
    void aReloadReadsTheFilesAgainAndKeepsWhatWorks(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("a.json"), "{}");
        BrokerModule module = ValidationModule.of(BrokerConfig.builder()
                .validations(Map.of(
                        "x", ValidationConfig.builder(directory, "a.json", "t").build()))
                .build());
        assertThat(module.reload().reloaded()).containsExactly(file.toString());
        Files.writeString(file, "[");
        assertThat(module.reload().failed()).hasSize(1);
        module.stop().block();
    }
}
