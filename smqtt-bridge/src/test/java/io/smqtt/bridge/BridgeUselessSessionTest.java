// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A session at the other broker that refuses all messages, such as that of a mosquitto that was killed, and counts messages in flight that are not. */
@Timeout(60)
class BridgeUselessSessionTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int IN_VAIN = 3;

    private final LoggedLines log = new LoggedLines();
    private final RemoteStub remote = new RemoteStub();

    @AfterEach
    void close() {
        log.close();
        remote.close();
    }

    private BridgeConfig config(String topics, Duration maxDelay) {
        return BridgedBroker.bridge(remote.address(), topics)
                .maxDelay(maxDelay)
                .hopLimit(0)
                .build();
    }

    /** Refuses the message, and ends the connection when all packets of the bridge have come. */
    private static void refuseAndClose(RawClient bridge, boolean subscribes) {
        ReceivedPacket first = bridge.receive();
        ReceivedPacket second = subscribes ? bridge.receive() : null;
        ReceivedPacket publish =
                second != null && second.type() == MqttMessageType.PUBLISH ? second : Objects.requireNonNull(first);
        refuse(bridge, publish);
        bridge.close();
    }

    private static void refuse(RawClient bridge, ReceivedPacket publish) {
        bridge.send(PacketBytes.packet(0x40).u16(publish.packetId()).u8(0x97).u8(0));
    }

    @Test
    void itIsBegunAnewIfItEndsConnectionsToo() {
        try (DialledBroker broker = DialledBroker.with(config("a/# out 2", Duration.ofMillis(200)));
                RawClient client = broker.client("publisher")) {
            client.publish("a/b", "x", 1);
            refuseAndClose(remote.accept(false, false), false);
            for (int i = 0; i < IN_VAIN; i++) {
                refuseAndClose(remote.accept(false, true), false);
            }
            RawClient bridge = remote.accept(true, false);
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("x");
            assertThat(log.with("refused its messages with reason 0x97; the session is begun anew"))
                    .hasSize(1);
        }
    }

    @Test
    void messagesThatWaitInItComeFirst() {
        try (DialledBroker broker = DialledBroker.with(config("a/# both 2", Duration.ofMillis(300)));
                RawClient client = broker.client("client")) {
            client.subscribe("a/in", 1);
            client.publish("a/out", "x", 1);
            refuseAndClose(remote.accept(false, false), true);
            for (int i = 0; i < IN_VAIN; i++) {
                refuseAndClose(remote.accept(false, true), true);
            }

            RawClient bridge = remote.accept(false, true);
            bridge.expect(MqttMessageType.SUBSCRIBE);
            bridge.send(PublishBytes.to("a/in").payload("waited").qos(1, 9));
            client.pubAck(client.expectPublish("a/in", "waited"));
            client.publish("a/out", "y", 1);
            await().atMost(PATIENCE).until(() -> broker.status().queued() == 1);
            assertThat(broker.status().sent()).isEqualTo(1);
            List<MqttMessageType> before = new ArrayList<>();
            for (ReceivedPacket next = bridge.receive(); next != null; next = bridge.receive()) {
                before.add(next.type());
            }
            assertThat(before).containsExactly(MqttMessageType.PUBACK, MqttMessageType.DISCONNECT);

            RawClient anew = remote.accept(true, false);
            ReceivedPacket first = RemoteStub.nextPublish(anew);
            ReceivedPacket second = RemoteStub.nextPublish(anew);
            assertThat(List.of(first.text(), second.text())).containsExactly("x", "y");
            assertThat(second.dup()).isFalse();
            anew.pubAck(first);
            anew.pubAck(second);
            await().atMost(PATIENCE).until(() -> broker.status().queued() == 0);
            assertThat(broker.status().sent()).isEqualTo(2);
            assertThat(log.with("the session is begun anew when no more messages come from it"))
                    .hasSize(1);
        }
    }

    @Test
    void itIsBegunAnewIfItKeepsConnections() {
        try (DialledBroker broker = DialledBroker.with(config("a/# out 2", Duration.ofMillis(40)));
                RawClient client = broker.client("publisher")) {
            RawClient before = remote.accept(false, false);
            await().atMost(PATIENCE).until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
            before.close();
            RawClient bridge = remote.accept(false, true);
            client.publish("a/b", "x", 1);
            int refused = 0;
            ReceivedPacket next = bridge.receive();
            while (next != null && next.type() == MqttMessageType.PUBLISH) {
                refused++;
                refuse(bridge, next);
                next = bridge.receive();
            }
            assertThat(refused).isEqualTo(7);
            assertThat(next).isNotNull();
            assertThat(next.type()).isEqualTo(MqttMessageType.DISCONNECT);

            RawClient anew = remote.accept(true, false);
            ReceivedPacket again = RemoteStub.nextPublish(anew);
            assertThat(again.text()).isEqualTo("x");
            anew.pubAck(again);
            assertThat(log.with("refuses all messages with reason 0x97; the session is begun anew"))
                    .hasSize(1);
        }
    }

    /** Then the session is not the cause. */
    @Test
    void aNewSessionThatRefusesAllIsKept() {
        try (DialledBroker broker = DialledBroker.with(config("a/# out 2", Duration.ofMillis(20)));
                RawClient client = broker.client("publisher")) {
            RawClient bridge = remote.accept(false, false);
            client.publish("a/b", "x", 1);
            for (int i = 0; i < 10; i++) {
                refuse(bridge, RemoteStub.nextPublish(bridge));
            }
            bridge.pubAck(RemoteStub.nextPublish(bridge));
            client.publish("a/b", "y", 1);
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("y");
            assertThat(log.with("begun anew")).isEmpty();
        }
    }
}
