// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that wait in the store for a client that is away or slow. */
@Tag("slow")
class QueueTest {

    private static final int LIMIT = 1_000;

    private DropPolicy policy = DropPolicy.NEWEST;
    private @Nullable DurableBroker running;

    private DurableBroker broker() {
        DurableBroker broker = running;
        if (broker == null) {
            broker = new DurableBroker(config -> config.session(
                            SessionConfig.builder().dropPolicy(policy).build())
                    .limits(LimitsConfig.builder()
                            .maxQueuedMessages(LIMIT)
                            .maxInFlight(20)
                            .build()));
            running = broker;
        }
        return broker;
    }

    @AfterEach
    void close() {
        broker().close();
    }

    private RawClient away(String clientId, String filter) {
        RawClient subscriber = broker().persistent(clientId);
        subscriber.subscribe(filter, 2);
        subscriber.disconnect();
        broker().awaitOffline(clientId);
        return subscriber;
    }

    private static void publish(RawClient publisher, int from, int to, int qos) {
        for (int i = from; i < to; i++) {
            publisher.publish("t", String.valueOf(i), qos);
        }
    }

    /** Takes messages and acknowledges them until there are no more. */
    private static List<String> drain(RawClient client, int expected) {
        List<String> texts = new ArrayList<>();
        while (texts.size() < expected) {
            ReceivedPacket next = client.receive();
            if (next == null) {
                throw new AssertionError("the connection ended after " + texts.size());
            }
            if (next.type() == MqttMessageType.PUBREL) {
                client.acknowledge(0x70, next.packetId());
            } else {
                assertThat(next.dup()).isFalse();
                texts.add(next.text());
                client.acknowledge(next.qos() == 1 ? 0x40 : 0x50, next.packetId());
            }
        }
        return texts;
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.range(from, to).mapToObj(String::valueOf).toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void manyMessagesComeInOrderPageByPage(int qos) { // [MQTT-4.6.0-6]
        away("s", "t");
        publish(broker().clean("p"), 0, 700, qos);
        RawClient resumed = broker().resumed("s");
        assertThat(drain(resumed, 700)).isEqualTo(numbers(0, 700));
        await().until(() -> {
            resumed.send((byte) 0xC0, (byte) 0);
            ReceivedPacket next = resumed.receive();
            if (next != null && next.type() == MqttMessageType.PUBREL) {
                resumed.acknowledge(0x70, next.packetId());
            }
            return broker().store.messages("s").isEmpty();
        });
    }

    @Test
    void whatComesWhileOldMessagesAreReadIsBehindThem() {
        away("s", "t");
        RawClient publisher = broker().clean("p");
        publish(publisher, 0, 600, 1);
        RawClient resumed = broker().resumed("s");
        List<String> first = drain(resumed, 100);
        publish(publisher, 600, 650, 1);
        List<String> all = new ArrayList<>(first);
        all.addAll(drain(resumed, 550));
        assertThat(all).isEqualTo(numbers(0, 650));
        publish(publisher, 650, 651, 1);
        assertThat(drain(resumed, 1)).containsExactly("650");
    }

    @Test
    void aSlowClientHasItsMessagesInTheStore() {
        RawClient subscriber = broker().persistent("s");
        subscriber.subscribe("t", 1);
        publish(broker().clean("p"), 0, LIMIT, 1);
        assertThat(broker().store.messages("s")).hasSize(LIMIT);
        assertThat(drain(subscriber, LIMIT)).isEqualTo(numbers(0, LIMIT));
        subscriber.expectNothing();
    }

    @Test
    void aConnectionThatIsLostWhileMessagesAreReadLosesNone() {
        away("s", "t");
        publish(broker().clean("p"), 0, 500, 1);
        Set<String> all = new LinkedHashSet<>();
        for (int round = 0; round < 5; round++) {
            RawClient resumed = broker().resumed("s");
            List<Integer> unacknowledged = new ArrayList<>();
            while (all.size() < (round + 1) * 100) {
                ReceivedPacket next = resumed.expect(MqttMessageType.PUBLISH);
                all.add(next.text()); // again if it was not acknowledged
                unacknowledged.add(next.packetId());
                if (unacknowledged.size() > 10) {
                    resumed.acknowledge(0x40, unacknowledged.remove(0));
                }
            }
            resumed.abort();
            broker().awaitOffline("s");
            if (round == 2) {
                broker().kill();
            }
        }
        assertThat(List.copyOf(all)).isEqualTo(numbers(0, 500));
    }

    @Test
    void theNewestAreDroppedAtTheLimit() {
        away("s", "t");
        publish(broker().clean("p"), 0, LIMIT + 50, 1);
        assertThat(broker().store.messages("s")).hasSize(LIMIT);
        assertThat(drain(broker().resumed("s"), LIMIT)).isEqualTo(numbers(0, LIMIT));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theOldestAreDroppedAtTheLimitIfSoWished(boolean restarted) {
        policy = DropPolicy.OLDEST;
        away("s", "t");
        publish(broker().clean("p"), 0, LIMIT - 10, 1);
        if (restarted) {
            broker().kill();
        }
        publish(broker().clean("p"), LIMIT - 10, LIMIT + 300, 1);
        await().until(() -> broker().store.messages("s").size() == LIMIT);
        assertThat(drain(broker().resumed("s"), LIMIT)).isEqualTo(numbers(300, LIMIT + 300));
    }

    @Test
    void expiredMessagesGiveWayAtTheLimit() {
        away("s", "t");
        RawClient publisher = broker().clean("p");
        for (int i = 0; i < LIMIT; i++) {
            PublishBytes message = PublishBytes.to("t").payload("short " + i).qos(1);
            message.properties().messageExpiry(10);
            publisher.publish(message);
        }
        broker().advance(Duration.ofMillis(10_500)); // expired, and looked for only half a second later
        publisher.publish("t", "no room yet", 1);
        await().until(() -> broker().store.messages("s").isEmpty());
        publisher.publish("t", "room", 1);
        RawClient resumed = broker().resumed("s");
        resumed.expectPublish("t", "room");
        resumed.expectNothing();
    }

    private static void publishExpiring(RawClient publisher, String payload, int seconds) {
        PublishBytes message = PublishBytes.to("t").payload(payload).qos(1);
        message.properties().messageExpiry(seconds);
        publisher.publish(message);
    }

    private void awaitStored(String clientId, int count) {
        await().until(() -> broker().store.messages(clientId).size() == count);
    }

    @Test
    void expiredMessagesAreRemovedThoughNobodyComes() {
        away("s", "t");
        RawClient publisher = broker().clean("p");
        publisher.publish("t", "stays", 1);
        for (int i = 0; i < 300; i++) { // more than a page
            publishExpiring(publisher, "short " + i, 10);
        }
        publishExpiring(publisher, "longer", 100);
        publisher.publish("t", "stays, too", 2);
        awaitStored("s", 303);

        broker().advance(Duration.ofSeconds(12));
        awaitStored("s", 3);
        broker().advance(Duration.ofSeconds(91));
        awaitStored("s", 2);

        for (int i = 2; i < LIMIT; i++) { // there is room again
            publisher.publish("t", "more", 1);
        }
        awaitStored("s", LIMIT);
        RawClient resumed = broker().resumed("s");
        resumed.expectPublish("t", "stays");
        resumed.expectPublish("t", "stays, too");
        resumed.expectPublish("t", "more");
    }

    @Test
    void expiredMessagesAreRemovedAfterARestartThoughNobodyComes() {
        away("s", "t");
        RawClient publisher = broker().clean("p");
        publishExpiring(publisher, "short", 10);
        publisher.publish("t", "stays", 1);
        publishExpiring(publisher, "short, too", 10);
        awaitStored("s", 3);

        broker().kill();
        broker().advance(Duration.ofSeconds(500)); // recovered queues are looked at one after the other

        awaitStored("s", 1);
        RawClient resumed = broker().resumed("s");
        resumed.expectPublish("t", "stays");
        resumed.expectNothing();
    }

    @Test
    void expiredRetainedMessagesAreRemovedThoughNobodyAsks() {
        RawClient publisher = broker().clean("p");
        PublishBytes message = PublishBytes.to("r").payload("short").qos(1).retained();
        message.properties().messageExpiry(10);
        publisher.publish(message);
        publisher.publish(PublishBytes.to("q").payload("stays").qos(1).retained());
        assertThat(broker().store.retained()).hasSize(2);

        broker().advance(Duration.ofSeconds(12));

        await().until(() -> broker().store.retained().size() == 1);
        RawClient subscriber = broker().clean("s");
        subscriber.subscribe("#", 1);
        subscriber.expectPublish("q", "stays");
        subscriber.expectNothing();
    }

    @Test
    void aClientThatComesWhileItsMessagesExpireGetsTheOthers() {
        for (int round = 0; round < 20; round++) {
            String clientId = "s" + round;
            away(clientId, "t");
            RawClient publisher = broker().clean("p");
            publishExpiring(publisher, "short", 10);
            publisher.publish("t", "stays", 1);
            awaitStored(clientId, 2);
            broker().advance(Duration.ofSeconds(12));
            RawClient resumed = broker().resumed(clientId);
            resumed.acknowledge(0x40, resumed.expectPublish("t", "stays").packetId());
            awaitStored(clientId, 0);
            resumed.unsubscribe("t");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSessionThatIsTakenOverAgainAndAgainLosesNothing(ProtocolVersion version) { // [MQTT-3.1.4-3]
        RawClient subscriber = broker().persistent(version, "s");
        subscriber.subscribe("t", 1);
        RawClient publisher = broker().clean(version, "p");
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) { // each on the next event loop
            publisher.publish("t", String.valueOf(i), 1);
            RawClient next = broker().open(version);
            next.connect(ConnectBytes.of("s").persistent(1_000));
            ReceivedPacket received = next.expect(MqttMessageType.PUBLISH);
            all.add(received.text());
            next.acknowledge(0x40, received.packetId());
            next.ping();
        }
        assertThat(all).isEqualTo(numbers(0, 100));
        await().until(() -> broker().store.messages("s").isEmpty());
    }

    @Test
    void messagesOfASharedSubscriptionGoToTheMemberThatIsThere() {
        RawClient first = broker().persistent("s1");
        first.subscribe("$share/g/t", 1);
        first.disconnect();
        broker().awaitOffline("s1");
        publish(broker().clean("p"), 0, 400, 1);
        assertThat(broker().store.messages("s1")).isEmpty();
        assertThat(broker().store.messages("$in-process/$share/g/t")).hasSize(400);
        RawClient second = broker().persistent("s2");
        second.subscribe("$share/g/t", 1);
        assertThat(drain(second, 400)).isEqualTo(numbers(0, 400));
        await().until(() -> broker().store.messages("$in-process/$share/g/t").isEmpty());
        await().until(() -> broker().store.messages("s2").isEmpty());
        RawClient resumed = broker().resumed("s1");
        resumed.expectNothing();
    }

    @Test
    void aMessageThatWasSentToALostMemberIsStoredWithItsGroup() {
        RawClient first = broker().persistent("s1");
        first.subscribe("$share/g/t", 1);
        broker().clean("p").publish("t", "x", 1);
        first.expectPublish("t", "x");
        RawClient second = broker().persistent("s2");
        second.subscribe("$share/g/t", 1);
        await().until(() -> broker().store.messages("$in-process/$share/g/t").size() == 1);
        first.abort();
        second.acknowledge(0x40, second.expectPublish("t", "x").packetId());
        await().until(() -> broker().store.messages("$in-process/$share/g/t").isEmpty());
        assertThat(broker().store.messages("s1")).isEmpty();
        assertThat(broker().store.messages("s2")).isEmpty();
    }

    @Test
    void publishersAreSlowedWhileTooMuchWaitsForTheDisk() {
        away("s", "t");
        RawClient publisher = broker().clean("p");
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        try {
            clock.scheduleAtFixedRate(() -> broker().advance(Duration.ofMillis(100)), 0, 20, TimeUnit.MILLISECONDS);
            publish(publisher, 0, 100, 1);
            broker().store.overloaded(true);
            await().pollDelay(Duration.ofMillis(500)).until(() -> true); // two turns of the wheel
            long before = broker().nanos.get();
            publish(publisher, 100, 110, 1);
            assertThat(broker().nanos.get() - before).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(700));
        } finally {
            clock.shutdownNow();
        }
    }

    @Test
    void whoSubscribesOrConnectsIsSlowedWhileTooMuchWaitsForTheDisk() throws IOException {
        RawClient subscriber = broker().persistent("s");
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        try {
            clock.scheduleAtFixedRate(() -> broker().advance(Duration.ofMillis(100)), 0, 20, TimeUnit.MILLISECONDS);
            broker().store.overloaded(true);
            await().pollDelay(Duration.ofMillis(500)).until(() -> true); // two turns of the wheel
            long before = broker().nanos.get();
            for (int i = 0; i < 10; i++) {
                subscriber.subscribe("t/" + i, 1);
            }
            assertThat(broker().nanos.get() - before).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(700));
            RawClient stored = broker().open(ProtocolVersion.MQTT_5);
            stored.send(ConnectBytes.of("new").persistent(1_000));
            broker().clean("clean").ping();
            assertThat(broker().store.session("new")).isEmpty();
            assertThat(stored.socket().getInputStream().available()).isZero();
            broker().store.overloaded(false);
            assertThat(stored.expect(MqttMessageType.CONNACK).reasonCode()).isZero();
        } finally {
            clock.shutdownNow();
        }
    }

    @Test
    void aStoredSessionIsRefusedAtOnceWhileTooFewNodesCanBeReached() {
        broker().store.cutOff(true);
        RawClient stored = broker().open(ProtocolVersion.MQTT_5);
        stored.send(ConnectBytes.of("new").persistent(1_000));
        assertThat(stored.expect(MqttMessageType.CONNACK).reasonCode()).isEqualTo(0x88);
        broker().clean("clean").ping();

        broker().store.cutOff(false);
        RawClient again = broker().open(ProtocolVersion.MQTT_5);
        again.send(ConnectBytes.of("new").persistent(1_000));
        assertThat(again.expect(MqttMessageType.CONNACK).reasonCode()).isZero();
    }

    @Test
    void whoNeedsNoDiskIsNotSlowedWhileTooMuchWaitsForIt() throws InterruptedException {
        RawClient other = broker().clean("other");
        other.subscribe("other", 0);
        broker().store.overloaded(true);
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        clock.scheduleAtFixedRate(() -> broker().advance(Duration.ofMillis(100)), 0, 20, TimeUnit.MILLISECONDS);
        await().pollDelay(Duration.ofMillis(500)).until(() -> true); // two turns of the wheel
        clock.shutdownNow();
        assertThat(clock.awaitTermination(5, TimeUnit.SECONDS)).isTrue();
        for (int i = 0; i < 10; i++) { // time stands still, so that nobody who was slowed would be read from
            other.send(PublishBytes.to("other").payload("x"));
            other.expectPublish("other", "x");
            other.ping();
        }
    }
}
