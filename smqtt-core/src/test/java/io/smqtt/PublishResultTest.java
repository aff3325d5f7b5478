// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/** What the application is told of a message that it has published. */
@Timeout(60)
class PublishResultTest extends ServedBroker {

    private BrokerModule.Core core;

    @BeforeEach
    void start() {
        start(
                2,
                builder -> builder.module(new BrokerModule() {
                    @Override
                    public Mono<Void> start(Core given) {
                        core = given;
                        return Mono.empty();
                    }

                    @Override
                    public Mono<Void> stop() {
                        return Mono.empty();
                    }
                }));
    }

    private PublishResult publish(QoS qos) {
        return broker.publish(
                        ApplicationMessage.builder("t").payload("x").qos(qos).build())
                .block(PATIENCE);
    }

    private MqttTestClient subscribed(String clientId) throws Exception {
        return connect(clientId).subscribe("t", 1);
    }

    @Test
    void countsWhatIsDeliveredQueuedAndDroppedOnAllEventLoops() throws Exception {
        for (int i = 0; i < 4; i++) { // the event loops take turns
            subscribed("here" + i);
            away(subscribed("away" + i), "away" + i);
        }
        assertThat(publish(QoS.AT_LEAST_ONCE)).isEqualTo(new PublishResult(8, false, 4, Map.of(), List.of()));
        assertThat(publish(QoS.AT_MOST_ONCE))
                .isEqualTo(new PublishResult(4, false, 0, Map.of(DropReason.OFFLINE, 4), List.of()));
        assertThat(publish(QoS.AT_LEAST_ONCE).queued()).isEqualTo(4);
        assertThat(publish(QoS.AT_LEAST_ONCE))
                .isEqualTo(new PublishResult(4, false, 0, Map.of(DropReason.QUEUE_COUNT, 4), List.of()));
    }

    @Test
    void nobodyIsThere() {
        assertThat(publish(QoS.AT_LEAST_ONCE)).isEqualTo(new PublishResult(0, false));
    }

    @Test
    void countsGroupsByTheMemberThatGetsIt() throws Exception {
        MqttTestClient member = subscribed("m");
        member.unsubscribe("t");
        member.subscribe("$share/g/t", 1);
        assertThat(publish(QoS.AT_LEAST_ONCE)).isEqualTo(new PublishResult(1, false));
        member.close();
        await().until(() -> !broker.clients().blockFirst(PATIENCE).connected());
        assertThat(publish(QoS.AT_MOST_ONCE))
                .isEqualTo(new PublishResult(0, false, 0, Map.of(DropReason.NO_SHARED_MEMBER, 1), List.of()));
    }

    @Test
    void tellsOfConsumersWithoutDemand() {
        BaseSubscriber<ApplicationMessage> idle = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
                // asks for nothing
            }
        };
        broker.subscribe("t", ConsumerOptions.DEFAULTS.window(1)).subscribe(idle);
        await().until(() -> publish(QoS.AT_MOST_ONCE).matches() == 1);
        assertThat(publish(QoS.AT_MOST_ONCE))
                .isEqualTo(new PublishResult(0, false, 0, Map.of(DropReason.SLOW_CONSUMER, 1), List.of()));
        assertThat(publish(QoS.AT_LEAST_ONCE).queued()).isEqualTo(1);
        idle.cancel();
    }

    @Test
    void tellsOfABufferThatIsFull() {
        Disposable idle = broker.subscribe("t").subscribeWith(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
                // asks for nothing
            }
        });
        assertThat(publish(QoS.AT_MOST_ONCE)).isEqualTo(new PublishResult(1, false));
        for (int i = 0; i < 5_000; i++) {
            broker.publish(ApplicationMessage.builder("t").build()).subscribe();
        }
        assertThat(publish(QoS.AT_MOST_ONCE))
                .isEqualTo(new PublishResult(0, false, 0, Map.of(DropReason.NO_DEMAND, 1), List.of()));
        idle.dispose();
    }

    /** Somebody without an event loop, who may be a relay. */
    private record Taker(String id, @Nullable String relaysTo, boolean fails) implements Subscriber {

        @Override
        public @Nullable RoutingLoop owner() {
            return null;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            if (fails) {
                throw new IllegalStateException("as the test wants it");
            }
        }

        @Override
        public boolean isOnline() {
            return true;
        }

        @Override
        public int inFlightCount() {
            return 0;
        }
    }

    private void add(Taker taker, @Nullable String shareName) {
        core.router()
                .index()
                .add(new Subscription(
                        taker,
                        TopicFilter.of("t"),
                        shareName,
                        QoS.EXACTLY_ONCE,
                        false,
                        true,
                        Subscription.NO_IDENTIFIER));
    }

    @Test
    void namesTheNodesItWentTo() {
        add(new Taker("node b", "b", false), null);
        add(new Taker("a seat of b", "b", false), "g");
        add(new Taker("node c", "c", false), null);
        assertThat(publish(QoS.AT_LEAST_ONCE)).satisfies(result -> {
            assertThat(result.matches()).isEqualTo(3);
            assertThat(result.nodes()).containsExactlyInAnyOrder("b", "c");
        });
    }

    @Test
    void severalMessagesArriveInTheOrderOfTheirTopics() throws Exception {
        MqttTestClient client = connect("c").subscribe("a/#", 1);
        List<ApplicationMessage> messages = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            messages.add(ApplicationMessage.builder("a/" + i % 4)
                    .payload(i % 4 + " " + (i + 10))
                    .qos(i < 20 ? QoS.AT_MOST_ONCE : QoS.AT_LEAST_ONCE)
                    .retain(i >= 36)
                    .build());
        }

        broker.publishAll(messages).block(PATIENCE);
        broker.publishAll(List.of()).block(PATIENCE);

        assertThat(core.router().retained().count()).isEqualTo(4);
        await().untilAsserted(() -> assertThat(client.texts).hasSize(40));
        for (String topic : List.of("0 ", "1 ", "2 ", "3 ")) {
            assertThat(client.texts.stream().filter(text -> text.startsWith(topic)))
                    .hasSize(10)
                    .isSorted();
        }
    }

    @Test
    void oneOfSeveralMessagesThatFailsIsNamed() {
        add(new Taker("x", null, true), null);
        List<ApplicationMessage> messages = Stream.of("u", "t", "v", "t", "w")
                .map(topic ->
                        ApplicationMessage.builder(topic).qos(QoS.AT_LEAST_ONCE).build())
                .toList();

        assertThatThrownBy(() -> broker.publishAll(messages).block(PATIENCE))
                .isInstanceOfSatisfying(
                        PublishFailedException.class,
                        failed -> assertThat(failed.indexes()).containsExactly(1, 3))
                .hasMessage("a message could not be stored");
    }

    @Test
    void aSubscriberThatFailsFailsIt() {
        add(new Taker("x", null, true), null);
        assertThat(broker.publish(ApplicationMessage.builder("t").build())
                        .onErrorResume(IllegalStateException.class, error -> Mono.empty())
                        .blockOptional(PATIENCE))
                .isEmpty();
    }
}
