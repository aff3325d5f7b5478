// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.ConsumerOptions.Overflow;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.session.ConsumerPressure;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Consumers in this process that take less than is published: their publishers are slowed, and nothing is lost. */
@Timeout(120)
class ConsumerPressureTest extends ServedBroker {

    private static final ConsumerOptions SMALL =
            ConsumerOptions.DEFAULTS.window(1).queue(10, 1 << 20);
    private static final Duration NEVER = Duration.ofHours(1);

    private final AtomicInteger dropped = new AtomicInteger();

    private void start(Duration stall) {
        start(10, builder -> {
            builder.stall = stall;
            return builder.observer(counting());
        });
    }

    private BrokerObserver counting() {
        return new BrokerObserver() {
            @Override
            public void messageDropped(DropReason reason, int count) {
                dropped.addAndGet(count);
            }
        };
    }

    /** Takes what it asks for. */
    private static final class Taker extends BaseSubscriber<Object> {

        final List<String> texts = new CopyOnWriteArrayList<>();
        private final boolean acknowledges;

        Taker(boolean acknowledges) {
            this.acknowledges = acknowledges;
        }

        @Override
        protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
            // asks later
        }

        @Override
        protected void hookOnNext(Object next) {
            ApplicationMessage message;
            if (next instanceof ReceivedMessage received) {
                message = received.message();
                if (acknowledges) {
                    received.acknowledge();
                }
            } else {
                message = (ApplicationMessage) next;
            }
            texts.add(message.payload().asString());
        }
    }

    private Taker receive(String filter, ConsumerOptions options) {
        Taker taker = new Taker(true);
        MessageFlux<ReceivedMessage> messages = broker.receive(filter, options);
        messages.subscribe(taker);
        messages.ready().block(PATIENCE);
        return taker;
    }

    /** One with the buffer of 4,096 messages that subscribers without options have. */
    private Taker direct(String filter) {
        Taker taker = new Taker(true);
        broker.subscribe(filter).subscribe(taker);
        return taker;
    }

    private static ApplicationMessage message(String topic, int number, QoS qos) {
        return ApplicationMessage.builder(topic).payload("" + number).qos(qos).build();
    }

    private List<CompletableFuture<PublishResult>> publish(int from, int to, QoS qos) {
        List<CompletableFuture<PublishResult>> results = new ArrayList<>();
        for (int i = from; i < to; i++) {
            results.add(broker.publish(message("t", i, qos)).toFuture());
        }
        return results;
    }

    private static long done(List<CompletableFuture<PublishResult>> results) {
        return results.stream().filter(CompletableFuture::isDone).count();
    }

    private static List<String> numbers(int to) {
        return IntStream.range(0, to).mapToObj(String::valueOf).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"options", "no options", "shared"})
    void aBurstOfMessagesIsNotLost(String kind) {
        start(NEVER);
        Taker taker = switch (kind) {
            case "options" -> receive("t", ConsumerOptions.DEFAULTS);
            case "shared" -> receive("$share/g/t", ConsumerOptions.DEFAULTS);
            default -> direct("t");
        };
        List<CompletableFuture<PublishResult>> results = publish(0, 5_000, QoS.AT_LEAST_ONCE);
        taker.request(Long.MAX_VALUE);
        await().untilAsserted(() -> assertThat(taker.texts).hasSize(5_000));
        assertThat(taker.texts).isEqualTo(numbers(5_000));
        await().until(() -> done(results) == 5_000);
        assertThat(dropped).hasValue(0);
        taker.cancel();
    }

    @ParameterizedTest
    @ValueSource(strings = {"AT_LEAST_ONCE", "EXACTLY_ONCE"})
    void aPublisherInThisProcessWaitsForRoom(QoS qos) {
        start(NEVER);
        Taker taker = receive("t", SMALL.qos(qos));
        List<CompletableFuture<PublishResult>> results = publish(0, 30, qos);
        await().until(() -> done(results) == 11); // 1 in the window, 10 in the queue
        await().until(() -> broker.clients().blockFirst(PATIENCE).queued() == 29);
        assertThat(done(results)).isEqualTo(11);
        taker.request(4);
        await().until(() -> done(results) == 15);
        taker.request(Long.MAX_VALUE);
        await().until(() -> done(results) == 30);
        await().untilAsserted(() -> assertThat(taker.texts).isEqualTo(numbers(30)));
        assertThat(dropped).hasValue(0);
        assertThat(results.get(29).join()).isEqualTo(new PublishResult(1, false, 1, Map.of(), List.of()));
        taker.cancel();
    }

    @Test
    void bytesCountAsWell() {
        start(NEVER);
        Taker taker = receive("t", ConsumerOptions.DEFAULTS.window(1).queue(1_000, 5_000));
        List<CompletableFuture<PublishResult>> results = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            results.add(broker.publish(ApplicationMessage.builder("t")
                            .payload("x".repeat(2_000))
                            .qos(QoS.AT_LEAST_ONCE)
                            .build())
                    .toFuture());
        }
        await().until(() -> done(results) == 3); // 1 in the window, 2 in the queue
        taker.request(Long.MAX_VALUE);
        await().until(() -> done(results) == 10);
        taker.cancel();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPublisherWaitsForASubscriberWithoutOptionsToo(boolean ends) {
        start(NEVER);
        Taker taker = direct("t");
        List<CompletableFuture<PublishResult>> results = publish(0, 4_100, QoS.AT_LEAST_ONCE);
        await().until(() -> done(results) == 4_096);
        if (ends) {
            taker.cancel(); // nobody waits for it any more
        } else {
            taker.request(Long.MAX_VALUE);
        }
        await().until(() -> done(results) == 4_100);
        taker.cancel();
    }

    @Test
    void aSubscriberThatTakesNothingIsStalledThoughMessagesArrive() {
        start(Duration.ofMillis(600));
        Taker taker = direct("t");
        List<CompletableFuture<PublishResult>> results = publish(0, 4_100, QoS.AT_LEAST_ONCE);
        await().until(() -> {
            publish(0, 1, QoS.AT_LEAST_ONCE); // more often than it is looked
            return done(results) == 4_100;
        });
        taker.cancel();
    }

    @Test
    void aClientIsAcknowledgedWhenThereIsRoom() throws Exception {
        start(NEVER);
        Taker taker = receive("t", SMALL);
        MqttTestClient client = connect("c");
        for (int i = 0; i < 11; i++) {
            client.publish("t", "" + i, 1);
        }
        CompletableFuture<Void> next = CompletableFuture.runAsync(
                () -> {
                    try {
                        client.publish("t", "11", 1); // waits for its PUBACK
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                },
                THREADS);
        await().until(() ->
                broker.clients().filter(info -> info.queued() == 11).count().block(PATIENCE) == 1);
        assertThat(next).isNotDone();
        taker.request(Long.MAX_VALUE);
        assertThat(next).succeedsWithin(PATIENCE);
        await().untilAsserted(() -> assertThat(taker.texts).isEqualTo(numbers(12)));
        assertThat(dropped).hasValue(0);
        taker.cancel();
    }

    @Test
    void nobodyWaitsForAConsumerThatHasGone() {
        start(NEVER);
        Taker taker = receive("t", SMALL);
        List<CompletableFuture<PublishResult>> results = publish(0, 20, QoS.AT_LEAST_ONCE);
        await().until(() -> done(results) == 11);
        taker.cancel();
        await().until(() -> done(results) == 20);
    }

    @Test
    void theBrokerClosesThoughPublishersWait() {
        start(NEVER);
        receive("t", SMALL);
        List<CompletableFuture<PublishResult>> results = publish(0, 20, QoS.AT_LEAST_ONCE);
        await().until(() -> done(results) == 11);
        broker.close(Duration.ofSeconds(1)).block(PATIENCE);
        await().until(() -> done(results) == 20);
    }

    /** Each message of a hundred makes another one of the same topic, for which the consumer waits before it acknowledges. */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aConsumerThatWaitsForWhatItPublishesToItselfGoesOn(boolean blocks) {
        start(Duration.ofMillis(20));
        AtomicInteger handled = new AtomicInteger();
        MessageFlux<ReceivedMessage> messages = broker.receive("t", SMALL);
        Flux<ReceivedMessage> handling = blocks
                ? messages.publishOn(Schedulers.boundedElastic(), 1).doOnNext(received -> {
                    echo(received).block(PATIENCE);
                    received.acknowledge();
                })
                : messages.concatMap(received -> echo(received).then(Mono.fromRunnable(received::acknowledge)), 1)
                        .cast(ReceivedMessage.class);
        reactor.core.Disposable consumer =
                handling.doOnNext(received -> handled.incrementAndGet()).subscribe();
        messages.ready().block(PATIENCE);
        List<CompletableFuture<PublishResult>> results = publish(0, 100, QoS.AT_LEAST_ONCE);
        await().until(() -> done(results) == 100);
        await().until(() -> broker.clients()
                        .map(info -> info.queued() + info.inFlight())
                        .reduce(0, Integer::sum)
                        .block(PATIENCE)
                == 0);
        assertThat(dropped).hasValue(0);
        consumer.dispose();
    }

    private Mono<PublishResult> echo(ReceivedMessage received) {
        int number = Integer.parseInt(received.message().payload().asString());
        return number < 1_000
                ? broker.publish(message("t", number + 1_000, QoS.AT_LEAST_ONCE))
                : Mono.just(new PublishResult(0, false));
    }

    @Test
    void whatIsDroppedIsLoggedWithTheNameOfTheConsumer() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(ConsumerPressure.class);
        logger.addAppender(log);
        start(NEVER);
        Taker taker = receive("t", SMALL.overflow(Overflow.DROP).label("billing"));
        List<CompletableFuture<PublishResult>> results = publish(0, 30, QoS.AT_LEAST_ONCE);
        await().until(() -> done(results) == 30);
        assertThat(dropped).hasValue(19);
        assertThat(results.get(29).join())
                .isEqualTo(new PublishResult(0, false, 0, Map.of(DropReason.QUEUE_COUNT, 1), List.of()));
        assertThat(log.list).hasSize(1); // the next one in a minute
        assertThat(log.list.get(0).getFormattedMessage()).startsWith("messages dropped for billing;");
        logger.detachAppender(log);
        taker.cancel();
    }

    @Test
    void publishersWaitBeforeAllQueuesTogetherAreFull() {
        startWithTotal(400_000, NEVER);
        Taker quick = receive("quick", ConsumerOptions.DEFAULTS);
        quick.request(Long.MAX_VALUE);
        List<Taker> stalled = new ArrayList<>();
        List<CompletableFuture<PublishResult>> results = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String topic = "t" + i;
            stalled.add(i % 2 == 0 ? receive(topic, ConsumerOptions.DEFAULTS.window(1)) : direct(topic));
            for (int k = 0; k < 55; k++) {
                results.add(publishKilobyte(topic));
            }
        }
        await().until(() -> done(results) > 200);
        assertThat(done(results)).isLessThan(330);
        assertThat(publishKilobyte("quick")).succeedsWithin(PATIENCE); // waits for nobody else's queue
        assertThat(dropped).hasValue(0);
        stalled.forEach(taker -> taker.request(Long.MAX_VALUE));
        await().until(() -> done(results) == 330);
        await().until(() ->
                stalled.stream().mapToInt(taker -> taker.texts.size()).sum() == 330);
        assertThat(dropped).hasValue(0);
        stalled.forEach(BaseSubscriber::cancel);
        quick.cancel();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneConsumerTakesHalfOfTheTotalAtMost(boolean hasOptions) {
        startWithTotal(400_000, NEVER);
        Taker taker = hasOptions ? receive("t", ConsumerOptions.DEFAULTS.window(1)) : direct("t");
        List<CompletableFuture<PublishResult>> results = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            results.add(publishKilobyte("t"));
        }
        await().until(() -> dropped.get() > 190);
        assertThat(done(results) - dropped.get())
                .isBetween(60L, 101L); // a quarter of its own, and as much of held ones
        taker.request(Long.MAX_VALUE);
        await().until(() -> taker.texts.size() + dropped.get() == 400);
        assertThat(taker.texts).hasSizeBetween(120, 202);
        taker.cancel();
    }

    private CompletableFuture<PublishResult> publishKilobyte(String topic) {
        return broker.publish(ApplicationMessage.builder(topic)
                        .payload("x".repeat(1_000))
                        .qos(QoS.AT_LEAST_ONCE)
                        .build())
                .toFuture();
    }

    private void startWithTotal(long bytes, Duration stall) {
        BrokerBuilder builder = Broker.builder()
                .config(BrokerConfig.builder()
                        .listeners(Map.of())
                        .limits(LimitsConfig.builder()
                                .maxTotalQueuedBytes(bytes)
                                .build())
                        .build())
                .observer(counting());
        builder.stall = stall;
        broker = builder.start().block(PATIENCE);
    }

    @Test
    void messagesAreDroppedWhenAllQueuesTogetherAreFull() {
        broker = Broker.builder()
                .config(BrokerConfig.builder()
                        .listeners(Map.of(
                                "tcp",
                                ListenerConfig.tcp(0).toBuilder()
                                        .host("127.0.0.1")
                                        .build()))
                        .limits(LimitsConfig.builder()
                                .maxTotalQueuedBytes(50_000)
                                .build())
                        .build())
                .observer(counting())
                .start()
                .block(PATIENCE);
        Taker taker = receive("t", SMALL);
        for (int i = 0; i < 100; i++) {
            broker.publish(ApplicationMessage.builder("t")
                            .payload("x".repeat(1_000))
                            .qos(QoS.AT_LEAST_ONCE)
                            .build())
                    .subscribe();
        }
        await().until(() -> dropped.get() > 0);
        taker.request(Long.MAX_VALUE);
        await().until(() -> taker.texts.size() + dropped.get() == 100);
        assertThat(taker.texts).hasSizeGreaterThan(40);
        taker.cancel();
    }
}
