// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleConfig;
import io.smqtt.config.RuleEngineConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sql.RuleInput;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Threads and order of the evaluation of statements. */
class RuleThreadsTest {

    private static final int MESSAGES = 30;
    private static final List<String> TOPICS = List.of("t/1", "t/2", "t/3", "t/4", "t/5", "t/6", "t/7");

    private final Set<String> threads = ConcurrentHashMap.newKeySet();
    private final Map<String, List<Object>> numbers = new ConcurrentHashMap<>();
    private final RuleEngineConfig engine =
            RuleEngineConfig.builder().threads(3).build();
    private final RuleThreads workers = new RuleThreads(engine);
    private RulesModule module;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config, parts -> {
        RuleConfig rule = RuleConfig.builder("SELECT topic, payload.n AS n FROM \"t/#\" WHERE payload.n >= 0")
                .actions(Map.of(
                        "out",
                        RuleActionConfig.builder("recorder")
                                .lanes(4)
                                .batchSize(5)
                                .build()))
                .build();
        module = RulesModule.of(
                BrokerConfig.builder()
                        .rules(Map.of("order", rule))
                        .ruleEngine(engine)
                        .build(),
                List.of(new Recorder()));
        return parts.module(module);
    });

    /** The first message is parsed again: the thread that has read it has ended, and has forgotten it. */
    @Test
    void aThreadForgetsWhatItHasReadWhenItEnds() throws Exception {
        RuleThreads brief = new RuleThreads(engine, Duration.ofMillis(1));
        ApplicationMessage message = ApplicationMessage.builder("t").build().accepted(1L << 40, 0, null);
        AtomicInteger made = new AtomicInteger();
        Supplier<RuleInput> input = () -> {
            made.incrementAndGet();
            return RuleInput.of(Map.of());
        };
        AtomicReference<RecentInputs> inputs = new AtomicReference<>();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        brief.execute("t", worker -> {
            inputs.set(worker.inputs());
            worker.inputs().get(message, input);
            thread.complete(Thread.currentThread());
        });
        thread.get().join();

        inputs.get().get(message, input);

        assertThat(made).hasValue(2);
        brief.close();
    }

    @AfterEach
    void end() {
        workers.close();
    }

    /** A sink that answers at once, on the thread that sends. */
    private static class Answering implements Sink {

        private final Consumer<List<SinkRecord>> taker;

        Answering(Consumer<List<SinkRecord>> taker) {
            this.taker = taker;
        }

        @Override
        public Mono<BatchResult> send(List<SinkRecord> batch) {
            taker.accept(batch);
            return Mono.just(BatchResult.DONE);
        }

        @Override
        public Mono<Void> check() {
            return Mono.empty();
        }

        @Override
        public void close() {}
    }

    /** Makes sinks that record threads and rows. */
    private final class Recorder implements SinkFactory {

        @Override
        public String type() {
            return "recorder";
        }

        @Override
        public List<SinkSetting> settings() {
            return List.of();
        }

        @Override
        public Sink open(SinkContext context) {
            return new Answering(batch -> {
                threads.add(Thread.currentThread().getName().replaceAll("[0-9]+$", ""));
                batch.forEach(one -> numbers.computeIfAbsent(
                                String.valueOf(one.row().get("topic")), topic -> new CopyOnWriteArrayList<>())
                        .add(one.row().get("n")));
            });
        }
    }

    @Test
    void statementsAreEvaluatedOnThreadsOfRulesAndTopicsKeepTheirOrder() {
        try (RawClient device = broker.client(ProtocolVersion.MQTT_5, "device")) {
            for (int i = 0; i < MESSAGES; i++) {
                for (String topic : TOPICS) {
                    device.publish(topic, "{\"n\": " + i + "}", i % 2);
                }
            }
            RuleCounts counts = module.all().get(0).actions().get(0).counts();
            await().untilAsserted(() -> assertThat(counts.success.sum()).isEqualTo((long) MESSAGES * TOPICS.size()));
        }

        assertThat(threads).containsExactly("smqtt-rule-");
        List<Object> all =
                IntStream.range(0, MESSAGES).<Object>mapToObj(i -> (long) i).toList();
        assertThat(numbers).containsOnlyKeys(TOPICS);
        assertThat(numbers.values()).allSatisfy(ofTopic -> assertThat(ofTopic).isEqualTo(all));
    }

    /** Takes no notice of outcomes. */
    private static class Ignoring implements Lane.Outcomes {

        @Override
        public void succeeded(List<Delivery.Item> items) {}

        @Override
        public void refused(Delivery.Item item, String reason) {}

        @Override
        public void failed(String reason, int rows) {}

        @Override
        public void worked() {}
    }

    @Test
    void whatArrivesTogetherIsSentTogether() throws InterruptedException {
        List<Integer> batches = new CopyOnWriteArrayList<>();
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(12);
        Lane lane = new Lane(
                new Answering(batch -> batches.add(batch.size())),
                RuleActionConfig.builder("x").build(),
                new Ignoring());
        ApplicationMessage message = ApplicationMessage.builder("t").build();
        workers.execute("t", worker -> {
            try {
                arrived.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        for (int i = 0; i < 12; i++) {
            workers.execute("t", worker -> {
                lane.put(List.of(new Delivery.Item(new SinkRecord(Map.of(), message), new Delivery(null, 1, 1))));
                worker.atEnd(lane.advancing());
                done.countDown();
            });
        }

        arrived.countDown();
        done.await();

        await().untilAsserted(() -> assertThat(batches).containsExactly(12));
    }

    /** The thread that answers may be an event loop of clients: it makes no messages of the rows that have waited. */
    @Test
    void rowsThatHaveWaitedForAnAnswerAreSentOnAThreadOfRules() {
        List<String> senders = new CopyOnWriteArrayList<>();
        Sinks.One<BatchResult> answer = Sinks.one();
        Lane lane = new Lane(
                new Answering(batch -> senders.add(Thread.currentThread().getName())) {
                    @Override
                    public Mono<BatchResult> send(List<SinkRecord> batch) {
                        return super.send(batch).then(answer.asMono());
                    }
                },
                RuleActionConfig.builder("x").batchSize(1).build(),
                new Ignoring() {
                    @Override
                    public void next(Lane free) {
                        workers.advance(free);
                    }
                });
        ApplicationMessage message = ApplicationMessage.builder("t").build();
        Delivery.Item item = new Delivery.Item(new SinkRecord(Map.of(), message), new Delivery(null, 1, 1));
        lane.put(List.of(item, item));
        workers.advance(lane);
        await().until(() -> senders.size() == 1);

        answer.tryEmitValue(BatchResult.DONE);

        await().until(() -> senders.size() == 2);
        assertThat(senders).allMatch(name -> name.startsWith("smqtt-rule-"));
    }

    @Test
    void taskThatFailsEndsNeitherTheThreadNorOthers() {
        List<String> ran = new CopyOnWriteArrayList<>();

        workers.execute("t", worker -> {
            throw new IllegalStateException("as the test wants it");
        });
        workers.execute("t", worker -> ran.add(Thread.currentThread().getName()));
        await().until(() -> ran.size() == 1);
        workers.execute("t", worker -> ran.add(Thread.currentThread().getName()));

        await().until(() -> ran.size() == 2);
        assertThat(ran.get(1)).isEqualTo(ran.get(0)).startsWith("smqtt-rule-");
        workers.close();
        assertThat(workers.execute("t", worker -> {})).isFalse();
    }
}
