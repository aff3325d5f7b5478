// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.SkipException;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/**
 * The rules of Reactive Streams for publishers, as its own test suite checks them, for what the embedding API hands out.
 * A test of the suite that finds that it does not apply counts as passed; how many do apply is checked.
 */
class PublisherRulesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long TIMEOUT_MILLIS = 5_000; // to wait for what must come
    private static final long SILENCE_MILLIS = 20; // to wait for what must not come
    private static final long POLL_MILLIS = 10;
    private static final int MOST = 40;

    /** Tests of the suite that apply to a publisher that ends and one that fails. */
    private static final int LEAST_APPLIED = 20;

    private static final EventStream STREAM = new EventStream();

    private static Broker broker;
    private static Disposable happenings;
    private final AtomicInteger applied = new AtomicInteger();

    @BeforeAll
    static void start() {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .eventLoops(2)
                .build();
        broker = Broker.builder().config(config).start().block(PATIENCE);
        happenings = Flux.interval(Duration.ofMillis(1))
                .onBackpressureDrop()
                .subscribe(tick -> STREAM.connectRefused("tcp", "c", ReasonCode.NOT_AUTHORIZED));
        for (int i = 0; i < MOST; i++) {
            broker.publish(ApplicationMessage.builder("r/" + i)
                            .payload("kept")
                            .qos(QoS.AT_LEAST_ONCE)
                            .retain(true)
                            .build())
                    .block(PATIENCE);
        }
    }

    @AfterAll
    static void stop() {
        happenings.dispose();
        broker.close(Duration.ofSeconds(5)).block(PATIENCE);
    }

    @AfterEach
    void theSuiteAppliesToAGoodPart() {
        assertThat(applied.get()).isGreaterThanOrEqualTo(LEAST_APPLIED);
    }

    private static final class Suite extends PublisherVerification<Object> {

        private final LongFunction<Publisher<Object>> source;

        Suite(LongFunction<Publisher<Object>> source) {
            super(new TestEnvironment(TIMEOUT_MILLIS, SILENCE_MILLIS, POLL_MILLIS), 1_000);
            this.source = source;
        }

        @Override
        public Publisher<Object> createPublisher(long elements) {
            return source.apply(elements);
        }

        @Override
        public Publisher<Object> createFailedPublisher() {
            return broker.receive("t", ConsumerOptions.DEFAULTS.durable("needs-a-store"))
                    .cast(Object.class);
        }

        @Override
        public long maxElementsFromPublisher() {
            return MOST;
        }
    }

    private Stream<DynamicTest> suite(LongFunction<Publisher<Object>> source) {
        return Arrays.stream(PublisherVerification.class.getMethods())
                .filter(method -> method.isAnnotationPresent(org.testng.annotations.Test.class))
                .sorted(Comparator.comparing(Method::getName))
                .map(test -> DynamicTest.dynamicTest(test.getName(), () -> run(source, test)));
    }

    private void run(LongFunction<Publisher<Object>> source, Method test) throws Throwable {
        Suite suite = new Suite(source);
        suite.setUp();
        try {
            test.invoke(suite);
            applied.incrementAndGet();
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof SkipException)) {
                throw e.getCause();
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> consumersThatAcknowledgeByThemselves() {
        ConsumerOptions options = ConsumerOptions.DEFAULTS.window(7);
        return suite(
                elements -> broker.subscribe("r/#", options).cast(Object.class).take(elements));
    }

    @TestFactory
    Stream<DynamicTest> consumersThatAreToldTo() {
        return suite(elements -> broker.receive("r/#", ConsumerOptions.DEFAULTS.window(7))
                .doOnNext(ReceivedMessage::acknowledge)
                .cast(Object.class)
                .take(elements));
    }

    @TestFactory
    Stream<DynamicTest> consumersWithABuffer() {
        return suite(elements -> broker.subscribe("r/#").cast(Object.class).take(elements));
    }

    @TestFactory
    Stream<DynamicTest> events() {
        return suite(elements -> STREAM.events().cast(Object.class).take(elements));
    }
}
