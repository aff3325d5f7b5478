// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.ConsumerOptions.Overflow;
import io.smqtt.ConsumerOptions.RetainHandling;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.topic.InvalidTopicException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Consumers in the broker's process that have sessions: demand, acknowledgement, cancellation and errors. */
@Timeout(60)
class ConsumerTest extends ServedBroker {

    private static final ConsumerOptions DEFAULTS = ConsumerOptions.DEFAULTS;

    private final Map<DropReason, AtomicInteger> dropped = new EnumMap<>(DropReason.class);

    @BeforeEach
    void start() {
        start(parts -> parts);
    }

    private void start(UnaryOperator<BrokerBuilder> parts) {
        for (DropReason reason : DropReason.values()) {
            dropped.put(reason, new AtomicInteger());
        }
        start(
                10,
                builder -> parts.apply(builder.observer(new BrokerObserver() {
                    @Override
                    public void messageDropped(DropReason reason, int count) {
                        dropped.get(reason).addAndGet(count);
                    }
                })));
    }

    private void restart(UnaryOperator<BrokerBuilder> parts) {
        stop();
        start(parts);
    }

    private void publish(String topic, String text, QoS qos) {
        broker.publish(ApplicationMessage.builder(topic).payload(text).qos(qos).build())
                .block(PATIENCE);
    }

    private void publish(String... texts) {
        for (String text : texts) {
            publish("t", text, QoS.AT_LEAST_ONCE);
        }
    }

    private void awaitSubscriptions(int count) {
        await().until(() -> broker.clients()
                        .filter(info -> InProcess.isReserved(info.identity().clientId()))
                        .map(ClientInfo::subscriptions)
                        .reduce(0, Integer::sum)
                        .block(PATIENCE)
                == count);
    }

    private static String text(ReceivedMessage received) {
        return received.message().payload().asString();
    }

    private static String text(ApplicationMessage message) {
        return message.payload().asString();
    }

    /** Takes what it is told to. */
    private static final class Taker extends BaseSubscriber<ReceivedMessage> {

        final List<ReceivedMessage> received = new CopyOnWriteArrayList<>();

        @Override
        protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
            // asks later
        }

        @Override
        protected void hookOnNext(ReceivedMessage message) {
            received.add(message);
        }

        List<String> texts() {
            return received.stream().map(ConsumerTest::text).toList();
        }

        void awaitTexts(String... texts) {
            await().untilAsserted(() -> assertThat(texts()).containsExactly(texts));
        }
    }

    private Taker receive(String filter, ConsumerOptions options) {
        Taker taker = new Taker();
        broker.receive(filter, options).subscribe(taker);
        return taker;
    }

    @Test
    void tellsOfItsSubscriptionOnceItGetsWhatIsPublished() {
        List<String> told = new CopyOnWriteArrayList<>();
        Taker taker = receive("t", DEFAULTS.whenSubscribed(() -> {
            told.add("subscribed");
            throw new IllegalStateException("as wanted by the test");
        }));
        taker.request(10);
        await().untilAsserted(() -> assertThat(told).containsExactly("subscribed"));

        publish("a");

        taker.awaitTexts("a");
        assertThat(told).hasSize(1);
    }

    // --- demand

    @Test
    void getsOnlyWhatItAskedFor() {
        StepVerifier.create(broker.subscribe("t", DEFAULTS).map(ConsumerTest::text), 0)
                .expectSubscription()
                .then(() -> awaitSubscriptions(1))
                .then(() -> publish("a", "b", "c", "d"))
                .thenRequest(2)
                .expectNext("a", "b")
                .thenRequest(1)
                .expectNext("c")
                .thenCancel()
                .verify(PATIENCE);
    }

    @Test
    void whatTheWindowDoesNotTakeWaitsInTheQueueAtQos1AndIsDroppedAtQos0() {
        Taker taker = receive("t", DEFAULTS.window(2));
        awaitSubscriptions(1);
        for (int i = 0; i < 5; i++) {
            publish("t", "once" + i, QoS.AT_LEAST_ONCE);
        }
        publish("t", "never", QoS.AT_MOST_ONCE);
        await().until(() -> dropped.get(DropReason.SLOW_CONSUMER).get() == 1);
        ClientInfo info = broker.clients().blockFirst(PATIENCE);
        assertThat(info.inFlight()).isEqualTo(2);
        assertThat(info.queued()).isEqualTo(3);

        taker.request(Long.MAX_VALUE);
        taker.awaitTexts("once0", "once1");
        taker.received.get(0).acknowledge();
        taker.received.get(0).acknowledge(); // counts once
        taker.awaitTexts("once0", "once1", "once2");
        taker.received.get(1).acknowledge();
        taker.received.get(2).acknowledge();
        taker.awaitTexts("once0", "once1", "once2", "once3", "once4");
        taker.cancel();
    }

    @Test
    void theQueueHasLimitsOfItsOwnAndDropsWhatIsAboveIfItIsTold() {
        Taker taker = receive("t", DEFAULTS.window(1).queue(10, 1 << 20).overflow(Overflow.DROP));
        awaitSubscriptions(1);
        for (int i = 0; i < 15; i++) {
            publish("m" + i);
        }
        await().until(() -> dropped.get(DropReason.QUEUE_COUNT).get() == 4); // 1 in the window, 10 in the queue
        taker.cancel();
    }

    @ParameterizedTest
    @EnumSource
    void messagesComeInOrderFromOneThreadAtATimeWhateverTheDemand(QoS qos) {
        int count = 2_000;
        AtomicInteger inside = new AtomicInteger();
        List<Integer> numbers = new ArrayList<>();
        Disposable consumer = broker.subscribe("n", DEFAULTS.qos(qos).window(4_000))
                .doOnNext(message -> {
                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                    numbers.add(Integer.valueOf(text(message)));
                    inside.decrementAndGet();
                })
                .limitRate(7)
                .subscribe();
        awaitSubscriptions(1);
        for (int i = 0; i < count; i++) {
            broker.publish(ApplicationMessage.builder("n")
                            .payload(String.valueOf(i))
                            .qos(qos)
                            .build())
                    .subscribe();
        }
        await().until(() -> numbers.size() == count);
        assertThat(numbers).isSorted().doesNotHaveDuplicates();
        await().until(() -> broker.clients().blockFirst(PATIENCE).inFlight() == 0);
        consumer.dispose();
    }

    @Test
    void aDemandOfNothingIsAnError() { // rule 3.9
        Taker taker = new Taker();
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        org.reactivestreams.Subscription[] raw = new org.reactivestreams.Subscription[1];
        broker.receive("t", DEFAULTS).subscribe(new org.reactivestreams.Subscriber<>() {
            @Override
            public void onSubscribe(org.reactivestreams.Subscription subscription) {
                raw[0] = subscription;
            }

            @Override
            public void onNext(ReceivedMessage message) {
                taker.received.add(message);
            }

            @Override
            public void onError(Throwable error) {
                errors.add(error);
            }

            @Override
            public void onComplete() {
                errors.add(new AssertionError("completed"));
            }
        });
        awaitSubscriptions(1);
        raw[0].request(0);
        await().until(() -> !errors.isEmpty());
        assertThat(errors).singleElement().isInstanceOf(IllegalArgumentException.class);
        assertThat(errors.get(0)).hasMessageContaining("3.9");
        awaitSubscriptions(0);
    }

    /** Against rule 2.13, and yet the session must not stay with it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSubscriberThatFailsAtTheEndLetsGoOfItsSession(boolean error) {
        org.reactivestreams.Subscription[] raw = new org.reactivestreams.Subscription[1];
        List<String> signals = new CopyOnWriteArrayList<>();
        broker.receive("t", DEFAULTS.shared("g")).subscribe(new CoreSubscriber<>() {
            @Override
            public void onSubscribe(org.reactivestreams.Subscription subscription) {
                raw[0] = subscription;
            }

            @Override
            public void onNext(ReceivedMessage message) {}

            @Override
            public void onError(Throwable cause) {
                signals.add("error");
                throw new IllegalStateException("thrown by onError");
            }

            @Override
            public void onComplete() {
                signals.add("complete");
                throw new IllegalStateException("thrown by onComplete");
            }
        });
        awaitSubscriptions(1);

        if (error) {
            raw[0].request(-1);
            await().until(() -> broker.clients().collectList().block(PATIENCE).isEmpty());
        } else {
            broker.close(Duration.ofSeconds(5)).block(PATIENCE);
        }

        assertThat(signals).containsExactly(error ? "error" : "complete");
    }

    // --- acknowledgement

    @Test
    void acknowledgesByItselfWhatWasTaken() {
        List<String> texts = new CopyOnWriteArrayList<>();
        Disposable consumer = broker.subscribe("t", DEFAULTS.window(1))
                .map(ConsumerTest::text)
                .subscribe(texts::add);
        awaitSubscriptions(1);
        publish("a", "b", "c");
        await().untilAsserted(() -> assertThat(texts).containsExactly("a", "b", "c"));
        consumer.dispose();
    }

    @Test
    void qos2IsAcknowledgedInTwoSteps() {
        Taker taker = receive("t", DEFAULTS.qos(QoS.EXACTLY_ONCE).window(1));
        taker.request(Long.MAX_VALUE);
        awaitSubscriptions(1);
        publish("t", "a", QoS.EXACTLY_ONCE);
        publish("t", "b", QoS.EXACTLY_ONCE);
        taker.awaitTexts("a");
        assertThat(taker.received.get(0).qos()).isEqualTo(QoS.EXACTLY_ONCE);
        taker.received.get(0).acknowledge();
        taker.awaitTexts("a", "b");
        taker.received.get(1).acknowledge();
        await().until(() -> broker.clients().blockFirst(PATIENCE).inFlight() == 0);
        taker.cancel();
    }

    @Test
    void acknowledgesFromAnyThreadInAnyOrder() {
        Taker taker = receive("t", DEFAULTS.window(10));
        taker.request(Long.MAX_VALUE);
        awaitSubscriptions(1);
        publish("a", "b", "c");
        taker.awaitTexts("a", "b", "c");
        for (int i : new int[] {2, 0, 1}) {
            Schedulers.parallel().schedule(taker.received.get(i)::acknowledge);
        }
        await().until(() -> broker.clients().blockFirst(PATIENCE).inFlight() == 0);
        taker.cancel();
        taker.received.get(0).acknowledge(); // much too late: does nothing
    }

    @Test
    void theQosIsTheLowerOfBoth() {
        Taker taker = receive("t", DEFAULTS.qos(QoS.AT_MOST_ONCE));
        taker.request(Long.MAX_VALUE);
        awaitSubscriptions(1);
        publish("a");
        taker.awaitTexts("a");
        assertThat(taker.received.get(0).qos()).isEqualTo(QoS.AT_MOST_ONCE);
        assertThat(taker.received.get(0).isRedelivered()).isFalse();
        taker.cancel();
    }

    // --- retained messages and groups

    @ParameterizedTest
    @EnumSource
    void retainedMessagesComeAsToldAndAreMarked(RetainHandling handling) {
        broker.publish(ApplicationMessage.builder("t")
                        .payload("old")
                        .qos(QoS.AT_LEAST_ONCE)
                        .retain(true)
                        .build())
                .block(PATIENCE);
        Taker taker = receive("t", DEFAULTS.retainHandling(handling));
        taker.request(Long.MAX_VALUE);
        awaitSubscriptions(1);
        boolean wanted = handling != RetainHandling.DO_NOT_SEND; // a consumer without a name is always new
        if (wanted) {
            taker.awaitTexts("old");
            assertThat(taker.received.get(0).isRetained()).isTrue();
        }
        publish("new");
        taker.awaitTexts(wanted ? new String[] {"old", "new"} : new String[] {"new"});
        assertThat(taker.received.get(taker.received.size() - 1).isRetained()).isFalse();
        taker.cancel();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 100})
    void manyRetainedMessagesPassAWindow(int window) {
        for (int i = 0; i < 40; i++) {
            broker.publish(ApplicationMessage.builder("r/" + i)
                            .payload("kept")
                            .qos(QoS.AT_LEAST_ONCE)
                            .retain(true)
                            .build())
                    .block(PATIENCE);
        }
        for (int i = 0; i < 5; i++) {
            StepVerifier.create(
                            broker.receive("r/#", DEFAULTS.window(window))
                                    .doOnNext(ReceivedMessage::acknowledge)
                                    .take(40),
                            3)
                    .expectNextCount(3)
                    .thenRequest(20)
                    .expectNextCount(20)
                    .thenRequest(20)
                    .expectNextCount(17)
                    .expectComplete()
                    .verify(PATIENCE);
        }
    }

    @Test
    void membersOfAGroupShareAndTakeOverWhatOneLeaves() {
        Taker first = receive("t", DEFAULTS.shared("g"));
        Taker second = receive("$share/g/t", DEFAULTS);
        awaitSubscriptions(2);
        publish("a", "b", "c", "d");
        first.request(Long.MAX_VALUE);
        second.request(Long.MAX_VALUE);
        await().until(() -> first.received.size() + second.received.size() == 4);
        assertThat(first.received).isNotEmpty();
        first.cancel(); // has acknowledged nothing
        await().untilAsserted(() -> assertThat(second.texts()).containsExactlyInAnyOrder("a", "b", "c", "d"));
        second.cancel();
    }

    // --- the end

    @Test
    void cancellationEndsTheSession() {
        Taker taker = receive("t/#", DEFAULTS);
        awaitSubscriptions(1);
        publish("t/1", "a", QoS.AT_LEAST_ONCE);
        taker.cancel();
        await().until(() -> broker.clients().collectList().block(PATIENCE).isEmpty());
        assertThat(broker.publish(ApplicationMessage.builder("t/1").build())
                        .block(PATIENCE)
                        .matches())
                .isZero();
    }

    @Test
    void cancellationAtOnceLeavesNothing() {
        for (int i = 0; i < 200; i++) {
            broker.subscribe("t", DEFAULTS).subscribe().dispose();
        }
        StepVerifier.create(broker.subscribe("t", DEFAULTS)).thenCancel().verify(PATIENCE);
        await().until(() -> broker.clients().collectList().block(PATIENCE).isEmpty());
    }

    @Test
    void takeEndsIt() {
        StepVerifier.create(
                        broker.subscribe("t", DEFAULTS).map(ConsumerTest::text).take(2))
                .then(() -> awaitSubscriptions(1))
                .then(() -> publish("a", "b", "c"))
                .expectNext("a", "b")
                .expectComplete()
                .verify(PATIENCE);
        await().until(() -> broker.clients().collectList().block(PATIENCE).isEmpty());
    }

    @Test
    void completesWhenTheBrokerClosesAndGivesWhatWasAskedFor() {
        Taker asks = receive("t", DEFAULTS);
        asks.request(Long.MAX_VALUE);
        awaitSubscriptions(1);
        StepVerifier.create(broker.receive("t", DEFAULTS))
                .then(() -> awaitSubscriptions(2))
                .then(() -> publish("a"))
                .then(() -> broker.close(Duration.ZERO).subscribe())
                .expectNextMatches(received -> text(received).equals("a"))
                .expectComplete()
                .verify(PATIENCE);
        asks.awaitTexts("a");
        StepVerifier.create(broker.receive("t", DEFAULTS))
                .expectError(BrokerClosedException.class)
                .verify(PATIENCE);
    }

    @Test
    void anAdministratorCanEndIt() {
        StepVerifier.create(broker.receive("t", DEFAULTS))
                .then(() -> awaitSubscriptions(1))
                .then(() -> broker.disconnect(
                                broker.clients().blockFirst(PATIENCE).identity().clientId())
                        .block(PATIENCE))
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOfSatisfying(
                                ConsumerEndedException.class,
                                ended -> assertThat(ended.reason()).isEqualTo(ReasonCode.ADMINISTRATIVE_ACTION)))
                .verify(PATIENCE);
        await().until(() -> broker.clients().collectList().block(PATIENCE).isEmpty());
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aSubscriberThatThrowsLosesItsSubscriptionAndNobodyElseDoes(Supplier<Throwable> failure) {
        Taker other = receive("t", DEFAULTS);
        other.request(Long.MAX_VALUE);
        broker.receive("t", DEFAULTS).subscribe(new org.reactivestreams.Subscriber<>() {
            @Override
            public void onSubscribe(org.reactivestreams.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(ReceivedMessage message) {
                Throwable thrown = failure.get();
                if (thrown instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) thrown;
            }

            @Override
            public void onError(Throwable error) {
                // not reached
            }

            @Override
            public void onComplete() {
                // not reached
            }
        });
        awaitSubscriptions(2);
        publish("a");
        other.awaitTexts("a");
        awaitSubscriptions(1);
        publish("b");
        other.awaitTexts("a", "b");
        other.cancel();
    }

    static Stream<Supplier<Throwable>> failures() {
        return Stream.of(
                () -> new IllegalStateException("as the test wants it"),
                () -> new AssertionError("as the test wants it"),
                () -> new StackOverflowError("as the test wants it"));
    }

    @Test
    void anErrorInAnOperatorCancels() {
        StepVerifier.create(broker.subscribe("t", DEFAULTS).<String>map(message -> {
                    throw new IllegalStateException("as the test wants it");
                }))
                .then(() -> awaitSubscriptions(1))
                .then(() -> publish("a"))
                .expectError(IllegalStateException.class)
                .verify(PATIENCE);
        await().until(() -> broker.clients().collectList().block(PATIENCE).isEmpty());
    }

    @Test
    void aLimitOfSessionsRefusesIt() {
        stop();
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .limits(LimitsConfig.builder().maxSessions(1).build())
                .build();
        broker = Broker.builder().config(config).start().block(PATIENCE);
        Taker first = receive("t", DEFAULTS);
        awaitSubscriptions(1);
        StepVerifier.create(broker.receive("t", DEFAULTS))
                .expectErrorSatisfies(error ->
                        assertThat(((ConsumerEndedException) error).reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED))
                .verify(PATIENCE);
        first.cancel();
    }

    // --- names and rights

    @Test
    void aDurableConsumerNeedsAStore() {
        StepVerifier.create(broker.receive("t", DEFAULTS.durable("orders")))
                .expectErrorMatches(error -> error instanceof IllegalStateException
                        && String.valueOf(error.getMessage()).contains("store"))
                .verify(PATIENCE);
        assertThat(broker.removeConsumer("orders").block(PATIENCE)).isFalse();
    }

    @Test
    void noClientCanHaveTheNameOfAConsumer() throws Exception {
        assertThatThrownBy(
                        () -> MqttTestClient.connect(broker.listeners().get("tcp"), InProcess.PREFIX + "orders", false))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("REFUSED");
        MqttTestClient.connect(broker.listeners().get("tcp"), "in-process/orders", false)
                .close();
    }

    @Test
    void accessRulesAreNotForTheApplication() {
        restart(builder -> builder.authorizer(request -> AccessDecision.DENY.now()));
        Taker taker = receive("t", DEFAULTS);
        taker.request(Long.MAX_VALUE);
        awaitSubscriptions(1);
        broker.reload();
        publish("a");
        taker.awaitTexts("a");
        awaitSubscriptions(1);
        taker.cancel();
    }

    @Test
    void optionsAreChecked() {
        assertThatThrownBy(() -> DEFAULTS.window(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.window(65_536)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.queue(0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.queue(1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.durable("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.durable("a/b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.durable("~1")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.shared("a/b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.expiry(Duration.ofMillis(999))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> broker.subscribe("a/#/b", DEFAULTS)).isInstanceOf(InvalidTopicException.class);
        assertThatThrownBy(() -> broker.subscribe("$share/g", DEFAULTS)).isInstanceOf(InvalidTopicException.class);
        assertThat(DEFAULTS.durable("a").shared("g"))
                .hasToString("ConsumerOptions[AT_LEAST_ONCE, retained SEND, window 256, queue 100000 messages"
                        + " 67108864 bytes SLOW_PUBLISHERS, shared by g, durable as a]");
    }
}
