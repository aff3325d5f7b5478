// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bans of the API, as clients and scripts see them. */
class BanRoutesTest {

    @TempDir
    Path directory;

    private ApiBroker api;

    @BeforeEach
    void start() {
        api = new ApiBroker(directory);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private int connectCode(ProtocolVersion version, ConnectBytes connect) {
        try (RawClient client = RawClient.to(
                Objects.requireNonNull(api.broker().broker.listeners().get("tcp")), version)) {
            return client.send(connect).expect(MqttMessageType.CONNACK).reasonCode();
        }
    }

    private static String ban(String as, String who) {
        return "{\"as\":\"" + as + "\",\"who\":\"" + who + "\"}";
    }

    @Test
    void aBanRefusesAndDisconnectsUntilItIsDeleted() throws Exception {
        RawClient client = api.lasting("bad-1");
        client.subscribe("a", 1);
        RawClient other = api.client("good");

        Reply made = api.post("/banned", "{\"as\":\"clientid\",\"who\":\"bad-1\",\"reason\":\"floods\"}");
        assertThat(made.status()).isEqualTo(200);
        assertThat(made.json().path("by").asText()).isEqualTo("token");
        assertThat(made.json().path("until").asText()).isEqualTo("infinity");
        assertThat(Instant.parse(made.json().path("at").asText()))
                .isBetween(Instant.now().minusSeconds(60), Instant.now());
        client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        other.ping();
        assertThat(connectCode(ProtocolVersion.MQTT_5, ConnectBytes.of("bad-1")))
                .isEqualTo(0x8A);
        assertThat(connectCode(ProtocolVersion.MQTT_3_1_1, ConnectBytes.of("bad-1")))
                .isEqualTo(5);
        assertThat(api.get("/clients/bad-1").json().path("connected").asBoolean())
                .as("the session stays")
                .isFalse();
        assertThat(api.get("/prometheus/stats").text())
                .contains("smqtt_clients_rejected_total{listener=\"tcp\",reason=\"banned\"} 2.0");

        assertThat(api.post("/banned", ban("clientid", "bad-1"))
                        .json()
                        .path("code")
                        .asText())
                .isEqualTo("ALREADY_EXISTS");
        assertThat(api.delete("/banned/clientid/bad-1").status()).isEqualTo(204);
        assertThat(api.delete("/banned/clientid/bad-1").status()).isEqualTo(404);
        assertThat(connectCode(ProtocolVersion.MQTT_5, ConnectBytes.of("bad-1")))
                .isZero();
    }

    @Test
    void usersAddressesAndPatternsAreBanned() {
        RawClient client = api.client("c-7");
        assertThat(api.post("/banned", ban("clientid_re", "^c-[0-9]+$")).status())
                .isEqualTo(200);
        client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        assertThat(connectCode(ProtocolVersion.MQTT_5, ConnectBytes.of("c-8"))).isEqualTo(0x8A);

        api.post("/banned", ban("username", "eve"));
        assertThat(connectCode(
                        ProtocolVersion.MQTT_5,
                        ConnectBytes.of("x").userName("eve").password("x")))
                .isEqualTo(0x8A);

        RawClient last = api.client("y");
        assertThat(api.post("/banned", ban("peerhost_net", "127.0.0.0/8")).status())
                .isEqualTo(200);
        last.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        assertThat(api.delete("/banned/peerhost_net/127.0.0.0%2F8").status()).isEqualTo(204);
        assertThat(connectCode(ProtocolVersion.MQTT_5, ConnectBytes.of("y"))).isZero();

        assertThat(api.get("/banned").json().path("data")).hasSize(2);
        assertThat(api.get("/banned?like_username=ev").json().path("data")).hasSize(1);
        assertThat(api.get("/banned?username=ev").json().path("data")).isEmpty();
        assertThat(api.get("/banned?limit=1")
                        .json()
                        .path("meta")
                        .path("hasnext")
                        .asBoolean())
                .isTrue();
        assertThat(api.delete("/banned").status()).isEqualTo(204);
        assertThat(api.get("/banned").json().path("data")).isEmpty();
        assertThat(connectCode(ProtocolVersion.MQTT_5, ConnectBytes.of("c-8"))).isZero();
    }

    @Test
    void aBanEndsAndCanBeMadeAgain() {
        String until = Instant.now().plusSeconds(2).toString();
        String body = "{\"as\":\"clientid\",\"who\":\"short\",\"until\":\"" + until + "\"}";
        assertThat(api.post("/banned", body).status()).isEqualTo(200);
        assertThat(connectCode(ProtocolVersion.MQTT_5, ConnectBytes.of("short")))
                .isEqualTo(0x8A);
        await().atMost(Duration.ofSeconds(30))
                .until(() -> connectCode(ProtocolVersion.MQTT_5, ConnectBytes.of("short")) == 0);
        assertThat(api.get("/banned").json().path("data")).isEmpty();
        assertThat(api.post("/banned", ban("clientid", "short")).status()).isEqualTo(200);
    }

    @Test
    void expressionsThatWouldCostTooMuchTogetherAreRefused() {
        String slow = "([a-z0-9]+-?){60}$"; // about 1,000 steps for each character
        for (int i = 0; i < 3; i++) {
            assertThat(api.post("/banned", ban(i == 0 ? "clientid_re" : "username_re", slow + i))
                            .status())
                    .isEqualTo(200);
        }
        Reply refused = api.post("/banned", ban("clientid_re", slow));
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.text()).contains("at most 4096 characters");
        assertThat(api.post("/banned", ban("clientid_re", "^pump-")).status()).isEqualTo(200);
        assertThat(api.delete("/banned/username_re/%28%5Ba-z0-9%5D%2B-%3F%29%7B60%7D%241")
                        .status())
                .isEqualTo(204);
        assertThat(api.post("/banned", ban("clientid_re", slow)).status()).isEqualTo(200);
    }

    @Test
    void badBansAreRefused() {
        for (String body : new String[] {
            "{}",
            ban("nothing", "x"),
            ban("clientid", ""),
            ban("peerhost", "host.example"),
            ban("clientid_re", "("),
            "{\"as\":\"clientid\",\"who\":\"x\",\"until\":\"2001-01-01T00:00:00Z\"}",
            "{\"as\":\"clientid\",\"who\":\"x\",\"until\":\"tomorrow\"}",
            "{\"as\":\"clientid\",\"who\":\"" + "x".repeat(2_000) + "\"}"
        }) {
            assertThat(api.post("/banned", body).status()).as(body).isEqualTo(400);
        }
        for (int i = 0; i < 100; i++) {
            api.post("/banned", ban("clientid_re", "x" + i));
        }
        assertThat(api.post("/banned", ban("username_re", "x")).text()).contains("at most 100 bans");
        assertThat(api.post("/banned", ban("username", "x")).status()).isEqualTo(200);
    }
}
