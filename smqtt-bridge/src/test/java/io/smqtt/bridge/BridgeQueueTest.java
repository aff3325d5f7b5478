// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.BridgeConfigBuilder;
import io.smqtt.config.DropPolicy;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages wait for the other broker from the start of this one. */
@Timeout(60)
class BridgeQueueTest {

    private static List<String> arriveAfterwards(UnaryOperator<BridgeConfigBuilder> options, int published) {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with(
                                "cloud", options.apply(BridgedBroker.bridge(remote.address(), "a/# out 1")))
                        .start()) {
            try (RawClient client = broker.client("publisher")) {
                for (int i = 0; i < published; i++) {
                    client.publish("a/b", "q0-" + i, 0);
                    client.publish("a/b", "q1-" + i, 1);
                }
                client.publish(PublishBytes.to("a/b").payload("end").qos(1).retained());
            }
            RawClient bridge = remote.accept(PropertyBytes.none());
            List<String> arrived = new ArrayList<>();
            while (!arrived.contains("end")) {
                ReceivedPacket message = RemoteStub.nextPublish(bridge);
                arrived.add(message.text());
                if (message.qos() > 0) {
                    bridge.pubAck(message);
                }
            }
            await().until(() -> broker.waiting("cloud") == 0);
            return arrived;
        }
    }

    @Test
    void messagesAboveQos0WaitBeforeTheFirstConnectionInTheirOrder() {
        assertThat(arriveAfterwards(builder -> builder, 5))
                .containsExactly("q1-0", "q1-1", "q1-2", "q1-3", "q1-4", "end");
    }

    @Test
    void messagesOfQos0WaitOnlyIfConfigured() {
        assertThat(arriveAfterwards(builder -> builder.queueQos0(true), 2))
                .containsExactlyInAnyOrder("q0-0", "q1-0", "q0-1", "q1-1", "end");
    }

    @ParameterizedTest
    @CsvSource({"OLDEST, q1-3 q1-4 end", "NEWEST, q1-0 q1-1 q1-2"})
    void theDropPolicyDecidesWhichMessagesAFullQueueKeeps(DropPolicy policy, String expected) {
        try (RemoteStub remote = new RemoteStub();
                DialledBroker broker = DialledBroker.with(BridgedBroker.bridge(remote.address(), "a/# out 1")
                        .maxQueuedMessages(3)
                        .dropPolicy(policy)
                        .build())) {
            try (RawClient client = broker.client("publisher")) {
                for (int i = 0; i < 5; i++) {
                    client.publish("a/b", "q1-" + i, 1);
                }
                client.publish("a/b", "end", 1);
            }
            await().until(() -> broker.status().dropped() == 3);
            RawClient bridge = remote.accept(PropertyBytes.none());
            List<String> arrived = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                ReceivedPacket message = RemoteStub.nextPublish(bridge);
                arrived.add(message.text());
                bridge.pubAck(message);
            }
            assertThat(String.join(" ", arrived)).isEqualTo(expected);
            await().until(() -> broker.status().queued() == 0);
        }
    }

    /** A retained message that was there before the bridge is sent once, at the first connection. */
    @Test
    void retainedMessagesAreSentAtTheFirstConnection() {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with("cloud", BridgedBroker.bridge(remote.address(), "a/# out 1"))
                        .start()) {
            try (RawClient client = broker.client("publisher")) {
                client.publish(PublishBytes.to("a/kept").payload("kept").retained());
            }
            RawClient bridge = remote.accept(PropertyBytes.none());
            ReceivedPacket message = RemoteStub.nextPublish(bridge);
            assertThat(message.text()).isEqualTo("kept");
            assertThat(message.retain()).isTrue();
        }
    }
}
