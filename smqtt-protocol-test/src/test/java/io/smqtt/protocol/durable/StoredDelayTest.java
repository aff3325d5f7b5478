// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.session.InProcess;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Delayed messages in a store: over a kill, and when the store fails at the time of their publication. */
class StoredDelayTest {

    private static final String DELAYED = InProcess.PREFIX + "$delayed";

    private final DurableBroker broker = new DurableBroker();

    @AfterEach
    void close() {
        broker.close();
    }

    private static void delay(RawClient publisher, int seconds, String payload, int qos) {
        publisher.publish("$delayed/" + seconds + "/t", payload, qos);
    }

    private static List<String> receive(RawClient client, int count) {
        List<ReceivedPacket> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(client.expect(MqttMessageType.PUBLISH));
        }
        for (ReceivedPacket packet : packets) {
            if (packet.qos() == 1) {
                client.pubAck(packet);
            } else {
                client.pubRecAndComp(packet);
            }
        }
        return packets.stream().map(ReceivedPacket::text).toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aKillBetweenPublicationAndRemovalRepeatsNothingAtQos2(int qos) {
        broker.persistent("s").subscribe("t", qos);
        delay(broker.persistent("p"), 5, "x", qos);
        broker.store.hold();
        broker.advance(Duration.ofSeconds(6));
        broker.letTimePassUntil(
                () -> broker.store.pending() > 0); // a deadline that is set after a step of the clock needs another one
        broker.store.commitOne();

        broker.kill();

        RawClient client = broker.resumed("s");
        assertThat(receive(client, 1)).containsExactly("x");
        broker.advance(Duration.ofSeconds(1));
        if (qos == 2) {
            client.expectNothing();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatReceiversCannotStoreIsPublishedWhenTheStoreWorksAgain(int qos) {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", qos);
        subscriber.disconnect();
        broker.awaitOffline("s");
        RawClient publisher = broker.persistent("p");
        delay(publisher, 5, "first", qos);
        delay(publisher, 7, "second", qos);
        int before = broker.store.failures();
        broker.store.fail();
        broker.advance(Duration.ofSeconds(6));
        await().until(() -> broker.store.failures() > before);
        broker.advance(Duration.ofSeconds(6));
        broker.letTimePassUntil(() -> broker.store.failures() > before + 2);

        broker.store.heal();

        broker.letTimePassUntil(() -> broker.store.messages("s").size() == 2);
        assertThat(receive(broker.resumed("s"), 2)).containsExactly("first", "second");
        broker.letTimePassUntil(() -> broker.store.messages(DELAYED).isEmpty());
    }

    @Test
    void theDelayContinuesOverARestart() {
        broker.persistent("s").subscribe("t", 1);
        delay(broker.persistent("p"), 60, "x", 1);
        broker.kill();
        RawClient client = broker.resumed("s");
        broker.advance(Duration.ofSeconds(59));
        client.expectNothing();
        broker.advance(Duration.ofSeconds(2));
        assertThat(receive(client, 1)).containsExactly("x");
    }
}
