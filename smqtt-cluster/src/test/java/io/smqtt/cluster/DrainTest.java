// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node that leaves sends its clients away one after the other. */
class DrainTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int CLIENTS = 50;

    /** So that only some of the clients go while the test looks at all of them. */
    private static final Duration DRAIN = Duration.ofMinutes(2);

    @Tag("slow")
    @Test
    void clientsAreSentAwayOneAfterTheOtherAndTheStopEndsWithTheLast() {
        ClusterConfig config = ClusterConfig.builder().drain(DRAIN).build();
        ClusterModule module =
                new ClusterModule(config, "alone", new LoopbackHub().transport("alone"), ClusterSettings.defaults());
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        Broker broker = Objects.requireNonNull(Broker.builder()
                .config(BrokerConfig.builder().listeners(Map.of("tcp", tcp)).build())
                .module(module)
                .start()
                .block(PATIENCE));
        assertThat(module.status().state()).isEqualTo(ClusterStatus.State.JOINED);
        InetSocketAddress address = Objects.requireNonNull(broker.listeners().get("tcp"));
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE);
            client.connect("client-" + i);
            clients.add(client);
        }

        CompletableFuture<Void> stopped = broker.close(DRAIN.multipliedBy(3)).toFuture();
        await().atMost(PATIENCE).until(() -> module.status().state() == ClusterStatus.State.LEAVING);
        await().atMost(PATIENCE).until(() -> online(broker) < CLIENTS);
        int served = 0;
        for (RawClient client : clients) {
            client.send((byte) 0xC0, (byte) 0);
            ReceivedPacket answer = client.receive();
            served += answer != null && answer.type() == MqttMessageType.PINGRESP ? 1 : 0;
        }
        assertThat(served).isBetween(1, CLIENTS - 1);
        clients.forEach(RawClient::close);

        assertThat(stopped).succeedsWithin(PATIENCE);
    }

    private static long online(Broker broker) {
        return Objects.requireNonNull(
                broker.clients().filter(client -> client.connected()).count().block(PATIENCE));
    }
}
