// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ban that the API of one process makes is in force at another one. */
@Tag("long")
class BansClusterIT {

    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;
    private static final int BANNED = 0x8A;

    @TempDir
    Path directory;

    private RestApi api(LoopbackCluster nodes, int node) throws IOException {
        String token = Files.readString(directory.resolve("n" + node + "/data/management.token"));
        return RestApi.of(nodes.broker(node)).token(token);
    }

    private static int connectCode(LoopbackCluster nodes, int node) {
        try (RawClient client = nodes.open(node)) {
            return client.send(ConnectBytes.of("pump-7"))
                    .expect(MqttMessageType.CONNACK)
                    .reasonCode();
        }
    }

    private static String ban(String until) {
        return "{\"as\":\"clientid\",\"who\":\"pump-7\",\"until\":\"" + until + "\"}";
    }

    @Test
    void aBanOfOneNodeEndsAndRefusesClientsOfTheOther() throws Exception {
        try (LoopbackCluster nodes = LoopbackCluster.start(directory, 2);
                RawClient client = nodes.client(1, "pump-7")) {
            RestApi first = api(nodes, 0);
            RestApi second = api(nodes, 1);

            assertThat(first.post("/banned", ban("infinity")).status()).isEqualTo(200);
            client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
            assertThat(connectCode(nodes, 0)).isEqualTo(BANNED);
            assertThat(connectCode(nodes, 1)).isEqualTo(BANNED);

            assertThat(second.delete("/banned/clientid/pump-7").status()).isEqualTo(204);
            await().atMost(PATIENCE).until(() -> connectCode(nodes, 0) == 0 && connectCode(nodes, 1) == 0);

            Instant end = Instant.now().plusSeconds(3).truncatedTo(ChronoUnit.SECONDS);
            assertThat(second.post("/banned", ban(end.toString())).status()).isEqualTo(200);
            await().atMost(PATIENCE).until(() -> connectCode(nodes, 0) == 0 && connectCode(nodes, 1) == 0);
            assertThat(Instant.now()).isAfterOrEqualTo(end);
        }
    }
}
