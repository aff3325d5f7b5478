// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bans of a file are in force, and are read-only. */
@Timeout(120)
class BanFileTest {

    private static final String PUMP = "{\"as\":\"clientid\",\"who\":\"pump-7\",\"reason\":\"floods\"}\n";
    private static final String EVE = "{\"as\":\"username\",\"who\":\"eve\"}\n";

    @TempDir
    Path directory;

    private Path write(String content) throws IOException {
        return Files.writeString(directory.resolve("bans"), content);
    }

    private ApiBroker broker(Path bans) {
        return new ApiBroker(directory, new ManagedBroker.Cluster(null), management -> management.bansFile(bans));
    }

    private static int connectCode(ApiBroker api, String clientId) {
        try (RawClient client = RawClient.to(
                Objects.requireNonNull(api.broker().broker.listeners().get("tcp")), ProtocolVersion.MQTT_5)) {
            return client.send(ConnectBytes.of(clientId))
                    .expect(MqttMessageType.CONNACK)
                    .reasonCode();
        }
    }

    @Test
    void theyAreListedWithTheirLineAndCannotBeChanged() throws Exception {
        Path bans = write("# who floods\n\n" + PUMP + EVE);
        try (ApiBroker api = broker(bans)) {
            assertThat(connectCode(api, "pump-7")).isEqualTo(0x8A);
            assertThat(api.post("/banned", "{\"as\":\"clientid\",\"who\":\"pump-8\"}")
                            .status())
                    .isEqualTo(200);

            JsonNode list = api.get("/banned").json().path("data");
            assertThat(list.findValuesAsText("who")).containsExactly("pump-7", "pump-8", "eve");
            assertThat(list.get(0).path("source").asText()).isEqualTo(bans + ":3");
            assertThat(list.get(0).path("by").asText()).isEqualTo("file");
            assertThat(list.get(1).has("source")).isFalse();
            assertThat(list.get(2).path("source").asText()).isEqualTo(bans + ":4");

            for (Reply refused : new Reply[] {
                api.delete("/banned/clientid/pump-7"), api.post("/banned", PUMP.replace("floods", "other"))
            }) {
                assertThat(refused.status()).isEqualTo(409);
                assertThat(refused.json().path("code").asText()).isEqualTo("READ_ONLY");
                assertThat(refused.text()).contains("bans:3");
            }
            assertThat(api.delete("/banned").status()).isEqualTo(204);
            assertThat(api.get("/banned").json().path("data").findValuesAsText("who"))
                    .containsExactly("pump-7", "eve");
            assertThat(api.post("/data/export", "").text()).doesNotContain("pump-7");
        }
    }

    @Test
    void aReloadTakesWhatIsValid() throws Exception {
        Path bans = write(PUMP);
        try (ApiBroker api = broker(bans)) {
            RawClient client = api.client("pump-9");
            write(PUMP.replace("pump-7", "pump-9"));
            assertThat(api.broker().broker.reload().reloaded()).contains(bans.toString());
            client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
            await().until(() -> connectCode(api, "pump-7") == 0);

            write(EVE + "nonsense\n" + EVE);
            assertThat(api.broker().broker.reload().failed())
                    .satisfiesExactly(
                            problem -> assertThat(problem)
                                    .startsWith(bans + ":2: ")
                                    .contains("JSON object"),
                            problem -> assertThat(problem)
                                    .startsWith(bans + ":3: ")
                                    .contains(bans + ":1"));
            write("");
            assertThat(api.broker().broker.reload().failed())
                    .singleElement()
                    .asString()
                    .contains("truncated");
            assertThat(connectCode(api, "pump-9")).as("the last usable content").isEqualTo(0x8A);

            write("# none\n");
            assertThat(api.broker().broker.reload().failed()).isEmpty();
            await().until(() -> connectCode(api, "pump-9") == 0);
            assertThat(api.get("/banned").json().path("data")).isEmpty();
        }
    }

    @Test
    void wrongLinesAreNamed() throws Exception {
        Path bans = write("[]\n{\"as\":\"nobody\",\"who\":\"x\"}\n{\"as\":\"clientid_re\",\"who\":\"(\"}\n" + PUMP
                + "{\"as\":\"clientid\",\"who\":\"x\",\"untill\":\"infinity\"}\n");
        assertThatThrownBy(() -> broker(bans))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        error -> assertThat(error.problems())
                                .satisfiesExactly(
                                        problem -> assertThat(problem).startsWith(bans + ":1: "),
                                        problem -> assertThat(problem)
                                                .startsWith(bans + ":2: ")
                                                .contains("as must be one of"),
                                        problem -> assertThat(problem).startsWith(bans + ":3: "),
                                        problem -> assertThat(problem)
                                                .startsWith(bans + ":5: ")
                                                .contains("only the fields")));
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 101; i++) {
            many.append("{\"as\":\"clientid_re\",\"who\":\"x").append(i).append("\"}\n");
        }
        Path patterns = write(many.toString());
        assertThatThrownBy(() -> broker(patterns))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("at most 100 bans by regular expressions");
    }
}
