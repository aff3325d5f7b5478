// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.store.ManualStore;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A node is killed before it has acknowledged QoS 2 messages of another node, which its stored sessions have. */
class ReceiverCrashTest {

    private static final String TOPIC = "crash";

    private final LoopbackHub hub = new LoopbackHub();
    private ManualStore store = new ManualStore(System::nanoTime);
    private TestBroker sender;
    private TestBroker receiver;
    private RawClient publisher;

    @BeforeEach
    void start() {
        sender = hub.start("sender", null);
        publisher = sender.client(ProtocolVersion.MQTT_5, "publisher").deadline(BrokerCluster.PATIENCE);
        receiver = hub.start("receiver", store);
    }

    @AfterEach
    void close() {
        receiver.close();
        publisher.close();
        sender.close();
    }

    private RawClient subscriber(boolean present) {
        RawClient client = receiver.open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
        ConnectBytes connect = ConnectBytes.of("subscriber").persistent(1_000);
        connect.properties().receiveMaximum(1);
        assertThat(client.connect(connect).sessionPresent()).isEqualTo(present);
        return client;
    }

    /** Publishes at QoS 2; the answer is not awaited. */
    private void publish(String... payloads) {
        for (String payload : payloads) {
            publisher.send(PublishBytes.to(TOPIC).payload(payload).qos(2, publisher.nextPacketId()));
        }
    }

    private static void complete(RawClient subscriber, String payload, boolean again) {
        ReceivedPacket publish = subscriber.expect(MqttMessageType.PUBLISH);
        assertThat(publish.text()).isEqualTo(payload);
        assertThat(publish.dup()).isEqualTo(again);
        subscriber.pubRecAndComp(publish);
    }

    /** The node ends as a killed process does, and the other one notices. */
    private void kill() {
        store.kill();
        hub.crash("receiver");
        hub.noticed("receiver");
        receiver.close();
        hub.carry("receiver", "sender");
        store = store.reopened(System::nanoTime);
    }

    @Test
    void whatASessionHadTakenIsNotDeliveredAgain() {
        RawClient first = subscriber(false);
        first.subscribe(TOPIC, 2);
        hub.lose("receiver", "sender");
        publish("completed", "sent", "waiting");
        complete(first, "completed", false);
        assertThat(first.expect(MqttMessageType.PUBLISH).text()).isEqualTo("sent");
        await().until(() -> payloads().equals(List.of("sent", "waiting")));
        kill();
        publish("after");
        for (int i = 0; i < 4; i++) {
            publisher.expect(MqttMessageType.PUBREC);
        }

        receiver = hub.start("receiver", store);
        RawClient second = subscriber(true);
        complete(second, "sent", true);
        complete(second, "waiting", false);
        complete(second, "after", false);
        second.expectNothing();
    }

    @Test
    void whatAMemberOfAGroupHadTakenIsNotDeliveredAgain() {
        RawClient first = subscriber(false);
        first.subscribe("$share/g/" + TOPIC, 2);
        hub.lose("receiver", "sender");
        publish("completed");
        complete(first, "completed", false);
        await().until(() -> payloads().isEmpty());
        kill();

        receiver = hub.start("receiver", store);
        RawClient second = subscriber(true);
        publisher.expect(MqttMessageType.PUBREC);
        second.expectNothing();
    }

    /** A message that was not committed when the node was killed is delivered. */
    @Test
    void whatWasNotCommittedIsDelivered() {
        subscriber(false).subscribe(TOPIC, 2);
        store.hold();
        publish("lost");
        ManualStore held = store;
        await().until(() -> held.pending() > 0);
        kill();
        publisher.expect(MqttMessageType.PUBREC);

        receiver = hub.start("receiver", store);
        RawClient second = subscriber(true);
        complete(second, "lost", false);
        second.expectNothing();
    }

    private List<String> payloads() {
        return store.messages("subscriber").stream()
                .map(stored -> stored.message().payload().asString())
                .toList();
    }
}
