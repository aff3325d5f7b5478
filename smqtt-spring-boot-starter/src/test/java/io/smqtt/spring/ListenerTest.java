// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.ReceivedMessage;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.test.RawClient;
import io.smqtt.test.cluster.MemoryNetwork;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Methods are called with messages, and messages are published by the template. */
@Timeout(120)
class ListenerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ApplicationContextRunner runner = Contexts.runner();

    @TempDir
    Path directory;

    record State(String color, int level) {}

    @Configuration(proxyBeanMethods = false)
    static class Listeners {

        final List<String> heard = new CopyOnWriteArrayList<>();
        final List<String> threads = new CopyOnWriteArrayList<>();

        @MqttListener(filter = "bytes/{id}")
        void bytes(@TopicVariable int id, byte[] payload) {
            threads.add(Thread.currentThread().getName());
            heard.add("bytes " + (id + 1) + " " + payload.length);
        }

        @MqttListener(filter = "text/{*rest}")
        void text(String payload, @TopicVariable("rest") String rest) {
            heard.add("text " + rest + " " + payload);
        }

        @MqttListener(filter = "${json.filter:json/+}")
        void json(State state) {
            heard.add("json " + state);
        }

        @MqttListener(filter = "whole", qos = 0)
        void whole(ReceivedMessage message) {
            heard.add(
                    "whole " + message.qos() + " " + message.message().payload().asString());
        }

        @MqttListener(filter = "mono")
        Mono<Void> mono(String payload) {
            return Mono.delay(Duration.ofMillis(1))
                    .doOnNext(tick -> heard.add("mono " + payload))
                    .then();
        }

        @MqttListener(filter = "flux")
        Flux<String> flux(String payload) {
            return Flux.just("1", "2").doOnNext(part -> heard.add("flux " + payload + part));
        }

        @MqttListener(filter = "stage")
        CompletionStage<Void> stage(String payload) {
            return CompletableFuture.runAsync(() -> heard.add("stage " + payload), THREADS);
        }

        @MqttListener(filter = "fails")
        void fails(String payload) {
            if (payload.equals("bad")) {
                throw new IllegalArgumentException("as wanted by the test");
            }
            heard.add("fails " + payload);
        }
    }

    private void heard(String topic, String payload, String... expected) {
        runner.withUserConfiguration(Listeners.class).run(context -> {
            assertThat(context).hasNotFailed();
            Listeners listeners = context.getBean(Listeners.class);
            try (RawClient client = Contexts.client(context)) {
                client.connect("c");
                client.publish(topic, payload, 1);
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(listeners.heard).containsExactly(expected));
            }
        });
    }

    @Test
    void payloadsAndVariablesAreWhatTheMethodTakes() {
        heard("bytes/41", "xyz", "bytes 42 3");
        heard("text/a/b", "x", "text a/b x");
        heard("json/1", "{\"color\":\"red\",\"level\":3}", "json State[color=red, level=3]");
        heard("whole", "x", "whole AT_MOST_ONCE x");
    }

    @Test
    void resultsAreWaitedFor() {
        heard("mono", "x", "mono x");
        heard("flux", "x", "flux x1", "flux x2");
        heard("stage", "x", "stage x");
    }

    @Test
    void methodsAreCalledBesideTheEventLoops() {
        runner.withUserConfiguration(Listeners.class).run(context -> {
            MqttTemplate template = context.getBean(MqttTemplate.class);
            assertThat(template.publish("bytes/1", new byte[3]).block(PATIENCE).matches())
                    .isEqualTo(1);
            List<String> threads = context.getBean(Listeners.class).threads;
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(threads).singleElement().asString().startsWith("smqtt-listener"));
        });
    }

    @Test
    void aFailureIsCountedAndTheNextMessageComes() {
        runner.withUserConfiguration(Listeners.class).run(context -> {
            MqttTemplate template = context.getBean(MqttTemplate.class);
            template.publish("fails", "bad").block(PATIENCE);
            template.publish("fails", "good").block(PATIENCE);

            List<String> heard = context.getBean(Listeners.class).heard;
            ListenerMethod method = context.getBean(ListenerMethods.class).all().stream()
                    .filter(one -> one.name().endsWith(".fails"))
                    .findFirst()
                    .orElseThrow();
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(heard).containsExactly("fails good");
                assertThat(method.failedCount()).isEqualTo(1);
                assertThat(method.handledCount()).isEqualTo(1);
            });
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class Failing {

        @MqttListener(filter = "forged/{*rest}")
        void fail(String payload) {
            throw new IllegalArgumentException(payload);
        }
    }

    @Test
    void publishersNeitherForgeNorFloodTheLog() {
        Logger logger = (Logger) LoggerFactory.getLogger(MqttListener.class);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        try {
            runner.withUserConfiguration(Failing.class).run(context -> {
                try (RawClient client = Contexts.client(context)) {
                    client.connect("c");
                    for (int i = 0; i < 5; i++) {
                        client.publish("forged/a\u202e", "x\nERROR y", 1);
                    }
                }
                ListenerMethod method =
                        context.getBean(ListenerMethods.class).all().get(0);
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(method.failedCount()).isEqualTo(5));
            });
        } finally {
            logger.detachAppender(appender);
        }
        assertThat(appender.list).singleElement().satisfies(event -> {
            assertThat(event.getFormattedMessage()).endsWith(".fail failed with a message of topic forged/a\\u202e");
            assertThat(event.getThrowableProxy().getMessage())
                    .isEqualTo("java.lang.IllegalArgumentException: x\\u000aERROR y");
        });
    }

    @Test
    void theTemplatePublishesObjectsAndRetains() {
        runner.run(context -> {
            MqttTemplate template = context.getBean(MqttTemplate.class);
            template.publish("a/b", new State("red", 3), QoS.AT_LEAST_ONCE, true)
                    .block(PATIENCE);
            try (RawClient client = Contexts.client(context)) {
                client.connect("c");
                client.subscribe("a/b", 1);
                client.expectPublish("a/b", "{\"color\":\"red\",\"level\":3}");
            }
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class Durable {

        final List<String> heard = new CopyOnWriteArrayList<>();

        @MqttListener(filter = "$share/group/work/{id}", durable = "worker")
        void work(@TopicVariable String id, String payload) {
            heard.add(id + " " + payload);
            if (heard.size() == 1) {
                throw new IllegalArgumentException("as wanted by the test");
            }
        }
    }

    @Test
    void aDurableListenerGetsAMessageAgainUntilItHasDealtWithIt() {
        runner.withUserConfiguration(Durable.class)
                .withPropertyValues("smqtt.storage.kind=rocksdb", "smqtt.storage.dir=" + directory)
                .run(context -> {
                    MqttTemplate template = context.getBean(MqttTemplate.class);
                    List<String> heard = context.getBean(Durable.class).heard;
                    await().atMost(PATIENCE)
                            .until(() -> template.publish("work/1", "x")
                                            .block(PATIENCE)
                                            .matches()
                                    == 1);

                    await().atMost(PATIENCE)
                            .untilAsserted(() -> assertThat(heard).startsWith("1 x", "1 x"));
                });
    }

    @Test
    void aDurableListenerNeedsAStore() {
        runner.withUserConfiguration(Durable.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("storage.kind must be rocksdb for the durable listener"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Member {

        final List<String> heard = new CopyOnWriteArrayList<>();

        @MqttListener(filter = "moves", durable = "mover")
        void hear(String payload) {
            heard.add(payload);
        }
    }

    private ApplicationContextRunner stored(String name) {
        return runner.withPropertyValues("smqtt.storage.kind=rocksdb", "smqtt.storage.dir=" + directory.resolve(name));
    }

    private ApplicationContextRunner replica(MemoryNetwork network, String node) {
        return stored(node)
                .withUserConfiguration(Member.class)
                .withBean(
                        BrokerModule.class,
                        () -> ClusterModule.of(
                                ClusterConfig.builder().nodeId(node).build(), network.transport(node)));
    }

    @Test
    void aDurableListenerThatAnotherReplicaHasTakenOverLeavesItThere() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(ListenerRun.class);
        logger.addAppender(log);
        try (MemoryNetwork network = new MemoryNetwork()) {
            replica(network, "a").run(a -> {
                ListenerMethod first = a.getBean(ListenerMethods.class).all().get(0);
                await().atMost(PATIENCE).until(first::isActive);

                replica(network, "b").run(b -> {
                    ListenerMethod second =
                            b.getBean(ListenerMethods.class).all().get(0);
                    await().atMost(PATIENCE).until(() -> second.isActive() && !first.isActive());
                    List<String> heard = b.getBean(Member.class).heard;
                    await().atMost(PATIENCE)
                            .untilAsserted(
                                    () -> { // when the route is known
                                        a.getBean(MqttTemplate.class)
                                                .publish("moves", "x")
                                                .block(PATIENCE);
                                        assertThat(heard).contains("x");
                                    });

                    assertThat(a.getBean(Member.class).heard).isEmpty();
                    assertThat(first.isActive()).isFalse();
                    assertThat(log.list)
                            .extracting(ILoggingEvent::getFormattedMessage)
                            .anyMatch(message -> message.contains(".hear receives no messages, next attempt in 60 s"));
                });
            });
        } finally {
            logger.detachAppender(log);
        }
    }

    @Test
    void retainedMessagesComeToADurableListenerWhenItsNameIsNew() {
        stored("data")
                .run(context -> context.getBean(MqttTemplate.class)
                        .publish(ApplicationMessage.builder("moves")
                                .payload("kept")
                                .qos(QoS.AT_LEAST_ONCE)
                                .retain(true)
                                .build())
                        .block(PATIENCE));
        for (String expected : List.of("kept", "live")) {
            stored("data").withUserConfiguration(Member.class).run(context -> {
                List<String> heard = context.getBean(Member.class).heard;
                if (expected.equals("live")) {
                    context.getBean(MqttTemplate.class).publish("moves", "live").block(PATIENCE);
                }
                await().atMost(PATIENCE).untilAsserted(() -> assertThat(heard).containsExactly(expected));
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Slow {

        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        volatile boolean done;

        @MqttListener(filter = "slow")
        void slow(String payload) throws InterruptedException {
            entered.countDown();
            leave.await();
            done = true;
        }
    }

    @Test
    void aStopWaitsForTheMethodsThatRun() {
        runner.withUserConfiguration(Slow.class)
                .withPropertyValues("smqtt.spring.stop-timeout=60s")
                .run(context -> {
                    Slow slow = context.getBean(Slow.class);
                    context.getBean(MqttTemplate.class).publish("slow", "x").block(PATIENCE);
                    slow.entered.await();
                    CompletableFuture<Void> stopped = CompletableFuture.runAsync(
                            () -> context.getBean(BrokerLifecycle.class).stop(), THREADS);
                    await().atMost(PATIENCE)
                            .until(() -> !context.getBean(BrokerLifecycle.class).isRunning());
                    assertThat(stopped).isNotDone();
                    slow.leave.countDown();
                    stopped.get();

                    assertThat(slow.done).isTrue();
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class Answering {

        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        final List<String> heard = new CopyOnWriteArrayList<>();
        final AtomicReference<String> published = new AtomicReference<>();
        private final ObjectProvider<MqttTemplate> template;

        Answering(ObjectProvider<MqttTemplate> template) {
            this.template = template;
        }

        @MqttListener(filter = "asked/+", durable = "answering")
        void answer(String payload) throws InterruptedException {
            heard.add(payload);
            if (payload.equals("last")) {
                return;
            }
            entered.countDown();
            leave.await();
            published.set(String.valueOf(
                    template.getObject().publish("answers", payload).block(PATIENCE)));
        }
    }

    @Test
    void aMethodCanPublishWhileTheBrokerStopsAndItsMessageDoesNotComeAgain() {
        runner.withUserConfiguration(Answering.class)
                .withPropertyValues(
                        "smqtt.spring.stop-timeout=60s", "smqtt.storage.kind=rocksdb", "smqtt.storage.dir=" + directory)
                .run(context -> {
                    Answering answering = context.getBean(Answering.class);
                    MqttTemplate template = context.getBean(MqttTemplate.class);
                    BrokerLifecycle lifecycle = context.getBean(BrokerLifecycle.class);
                    template.publish("asked/1", "during").block(PATIENCE);
                    answering.entered.await();
                    template.publish("asked/1", "kept").block(PATIENCE);
                    CompletableFuture<Void> stopped = CompletableFuture.runAsync(lifecycle::stop, THREADS);
                    await().atMost(PATIENCE).until(() -> !lifecycle.isRunning());
                    answering.leave.countDown();
                    stopped.get();
                    assertThat(answering.published.get()).isNotNull();
                    assertThat(answering.heard).containsExactly("during"); // no call begins in a stop

                    lifecycle.start();
                    template.publish("asked/1", "last").block(PATIENCE);

                    await().atMost(PATIENCE)
                            .untilAsserted(() -> assertThat(answering.heard).containsExactly("during", "kept", "last"));
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class Beside {

        final CountDownLatch second = new CountDownLatch(1);
        final AtomicInteger tries = new AtomicInteger();
        final List<String> heard = new CopyOnWriteArrayList<>();

        @MqttListener(filter = "beside", durable = "${name:beside}", concurrency = 2)
        void call(String payload) throws InterruptedException {
            if (payload.equals("waits")) {
                second.await();
            } else if (payload.equals("fails") && tries.incrementAndGet() < 3) {
                throw new IllegalArgumentException("as wanted by the test");
            }
            heard.add(payload);
        }
    }

    @Test
    void aFailureOfOneMessageLeavesTheCallsBesideItAlone() {
        runner.withUserConfiguration(Beside.class)
                .withPropertyValues("smqtt.storage.kind=rocksdb", "smqtt.storage.dir=" + directory)
                .run(context -> {
                    MqttTemplate template = context.getBean(MqttTemplate.class);
                    Beside beside = context.getBean(Beside.class);
                    template.publish("beside", "waits").block(PATIENCE);
                    template.publish("beside", "fails").block(PATIENCE);
                    await().atMost(PATIENCE)
                            .untilAsserted(() -> assertThat(beside.heard).containsExactly("fails"));
                    beside.second.countDown();

                    await().atMost(PATIENCE)
                            .untilAsserted(() -> assertThat(beside.heard).containsExactly("fails", "waits"));
                });
    }

    @Test
    void aListenerThatWasDisconnectedComesBack() {
        runner.withUserConfiguration(Listeners.class).run(context -> {
            Broker broker = context.getBean(BrokerLifecycle.class).broker();
            ListenerMethod method = context.getBean(ListenerMethods.class).all().stream()
                    .filter(one -> one.name().endsWith(".fails"))
                    .findFirst()
                    .orElseThrow();
            List<String> before = consumers(broker);
            before.forEach(id -> broker.disconnect(id).block(PATIENCE));
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(consumers(broker)).hasSameSizeAs(before).doesNotContainAnyElementsOf(before));
            await().atMost(PATIENCE).until(method::isActive);
            context.getBean(MqttTemplate.class).publish("fails", "good").block(PATIENCE);

            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(context.getBean(Listeners.class).heard).containsExactly("fails good"));
        });
    }

    private static List<String> consumers(Broker broker) {
        return broker.clients()
                .map(client -> client.identity().clientId())
                .collectList()
                .block(PATIENCE);
    }

    @Test
    void healthNamesListenersWithoutASubscription() {
        runner.withUserConfiguration(Slow.class).run(context -> {
            BrokerHealth health = new BrokerHealth(context.getBean(BrokerLifecycle.class));
            assertThat(health.report().details()).doesNotContainKey("inactiveMethods");
            ListenerMethod method = context.getBean(ListenerMethods.class).all().get(0);

            method.setActive(false);

            assertThat(health.report().up()).isTrue();
            assertThat(health.report().details()).containsEntry("inactiveMethods", method.name());
        });
    }

    static class Each {

        @MqttListener(filter = "each")
        void each(String payload) {}
    }

    @Test
    void aBeanThatIsNoSingletonIsRefused() {
        runner.withBean(Each.class, Each::new, definition -> definition.setScope("prototype"))
                .run(context -> assertThatThrownBy(() -> context.getBean(Each.class))
                        .hasStackTraceContaining("must be a singleton"));
    }

    @Test
    void aListenerThatTheBrokerRefusesEndsTheStart() throws Exception {
        Broker broker = Broker.builder()
                .config(BrokerConfig.builder()
                        .listeners(Map.of())
                        .limits(LimitsConfig.builder().maxSessions(1).build())
                        .eventLoops(1)
                        .build())
                .start()
                .block(PATIENCE);
        ListenerMethods methods = new ListenerMethods(() -> null, ApplicationConversionService.getSharedInstance(), 1);
        Method each = Each.class.getDeclaredMethod("each", String.class);
        for (String bean : List.of("first", "second")) {
            methods.add(new ListenerMethod(
                    new Each(), each, bean, TopicPattern.of("each"), "", each.getAnnotation(MqttListener.class)));
        }
        try {
            assertThatThrownBy(() -> methods.begin(broker, false, Duration.ofSeconds(2)))
                    .hasMessageMatching("the listener (first|second).each has no subscription after 2 s.*");
        } finally {
            methods.end();
            broker.close(Duration.ZERO).block(PATIENCE);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Unknown {

        @MqttListener(filter = "a/{id}")
        void unknown(@TopicVariable("other") String other) {}
    }

    @Test
    void anUnknownVariableEndsTheStart() {
        runner.withUserConfiguration(Unknown.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("the filter has no variable {other}"));
    }

    @Test
    void patternsFindTheirLevels() {
        TopicPattern pattern = TopicPattern.of("a/{one}/+/{*rest}");
        io.smqtt.topic.TopicName topic = io.smqtt.topic.TopicName.of("a/b/c/d/e");

        assertThat(pattern.filter().value()).isEqualTo("a/+/+/#");
        assertThat(pattern.value("one", topic)).isEqualTo("b");
        assertThat(pattern.value("rest", topic)).isEqualTo("d/e");
        assertThat(pattern.value("rest", io.smqtt.topic.TopicName.of("a/b/c"))).isEmpty();
    }
}
