// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.kit;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.MqttBroker;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@MqttBroker
@Timeout(120)
class BrokerAssertTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final Duration SHORT = Duration.ofMillis(50);

    @Test
    void aMessageIsFoundByAllThatItHas(TestBroker broker) {
        RawClient client = broker.client(V5, "c");
        client.publish(PublishBytes.to("a/b").payload("one").qos(1));
        client.publish(PublishBytes.to("a/b").payload("two").qos(2).retained());
        client.publish(PublishBytes.to("a/b").payload("two").qos(0));

        assertThat(broker)
                .received("a/+")
                .withQos(2)
                .from("c")
                .withPayload("two")
                .withPayload("two".getBytes())
                .retained()
                .matching("short", message -> message.payload().size() == 3)
                .times(1)
                .received("a/b")
                .withPayload("two")
                .times(2)
                .received("#")
                .and()
                .receivedNothing("other/#");
        assertThat(broker.received()).hasSize(3);
    }

    @Test
    void moreMessagesThanAreKeptAreNotPassedOver() {
        try (TestBroker small = TestBroker.builder().remember(2).start()) {
            RawClient client = small.client(V5, "c");
            client.publish("a", "1", 1);
            client.publish("a", "2", 1);
            assertThat(small.received())
                    .extracting(message -> message.payload().asString())
                    .containsExactly("1", "2");

            client.publish("a", "3", 1);
            assertThatThrownBy(small::received)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("has kept 2 messages of 3");

            small.clear();
            assertThat(small.received()).isEmpty();
        }
    }

    @Test
    void whatComesLaterIsWaitedFor(TestBroker broker) {
        CompletableFuture<Void> later = CompletableFuture.runAsync(
                () -> {
                    assertThat(broker).hasConnected("first");
                    broker.client(V5, "second").publish("late", "x", 1);
                },
                THREADS);
        CompletableFuture<Void> meanwhile = CompletableFuture.runAsync(() -> broker.client(V5, "first"), THREADS);

        assertThat(broker)
                .within(Duration.ofSeconds(60))
                .received("late")
                .from("second")
                .times(1);

        meanwhile.join();
        later.join();
    }

    @Test
    void theMessageListsWhatCame(TestBroker broker) {
        RawClient client = broker.client(V5, "c");
        client.publish(PublishBytes.to("a/b").payload("one").qos(1).retained());
        client.publish(PublishBytes.to("a/b").payload("x".repeat(1_000)).qos(0));

        assertThatThrownBy(() -> assertThat(broker)
                        .within(SHORT)
                        .received("a/b")
                        .withQos(1)
                        .withPayload("two"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(
                        "was to receive a message of 'a/b', QoS 1, payload two within PT0.05S and received")
                .hasMessageContaining("  a/b, QoS 1, retained, from c, payload one")
                .hasMessageContaining("xxx… of 1000 bytes");
        assertThatThrownBy(
                        () -> assertThat(broker).within(SHORT).received("a/b").times(3))
                .hasMessageContaining("3 messages of 'a/b'");
        assertThatThrownBy(() -> assertThat(broker).received("a/b").times(1))
                .hasMessageContaining("1 messages of 'a/b' and received 2");
        assertThatThrownBy(() -> assertThat(broker).receivedNothing("a/#")).hasMessageContaining("payload one");
    }

    @Test
    void withoutMessagesItSaysSo(TestBroker broker) {
        assertThatThrownBy(() -> assertThat(broker).within(SHORT).received("a"))
                .hasMessageContaining("and received nothing");
    }

    @Test
    void acknowledgedMessagesDoNotWait(TestBroker broker) {
        RawClient client = broker.client(V5, "c");
        client.subscribe("t", 2);
        RawClient publisher = broker.client(V5, "p");
        publisher.publish("t", "one", 1);
        publisher.publish("t", "two", 2);
        assertThat(broker).hasWaiting("c", 2);

        client.pubAck(client.expectPublish("t", "one"));
        assertThat(broker).hasWaiting("c", 1);
        client.pubRecAndComp(client.expectPublish("t", "two"));
        assertThat(broker).hasWaiting("c", 0);
    }

    @Test
    void sessionsAreLookedAt(TestBroker broker) {
        assertThatThrownBy(() -> assertThat(broker).within(SHORT).hasConnected("c"))
                .hasMessageContaining("has no sessions");
        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of("c").persistent(100));
        client.subscribe("t", 1);
        client.subscribe("u", 1);
        assertThat(broker)
                .hasConnected("c")
                .hasSession("c")
                .hasSubscriptions("c", 2)
                .hasNoSession("d");
        client.abort();
        assertThat(broker).hasDisconnected("c").hasSession("c");
        broker.client(V5, "p").publish("t", "x", 1);
        assertThat(broker).hasWaiting("c", 1);

        assertThatThrownBy(() -> assertThat(broker).within(SHORT).hasConnected("c"))
                .hasMessageContaining("client 'c' connected within PT0.05S")
                .hasMessageContaining("  c: not connected, 2 subscriptions, 0 messages in flight, 1 queued")
                .hasMessageContaining("  p: connected, 0 subscriptions");
        assertThatThrownBy(() -> assertThat(broker).within(SHORT).hasNoSession("c"))
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> assertThat(broker).within(SHORT).hasDisconnected("p"))
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> assertThat(broker).within(SHORT).hasWaiting("c", 2))
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> assertThat(broker).within(SHORT).hasSubscriptions("c", 1))
                .isInstanceOf(AssertionError.class);
    }
}
