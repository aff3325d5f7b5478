// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ConnectRefusal;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import java.util.function.Supplier;
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
import reactor.core.publisher.Mono;

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

    /** Of a publisher of one element, or none: what wants more does not apply. */
    private static final int LEAST_APPLIED_TO_ONE = 12;

    private static final int CLIENTS = 5;

    private static final EventStream STREAM = new EventStream();
    private static final ConnectRefusal REFUSAL =
            new ConnectRefusal("tcp", new InetSocketAddress("127.0.0.1", 1), "c", null, ReasonCode.NOT_AUTHORIZED);

    private static Broker broker;
    private static Disposable happenings;
    private static final List<Socket> CONNECTED = new ArrayList<>();
    private final AtomicInteger applied = new AtomicInteger();
    private int leastApplied = LEAST_APPLIED;

    @BeforeAll
    static void start() throws IOException {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .eventLoops(2)
                .build();
        broker = Broker.builder().config(config).start().block(PATIENCE);
        happenings = Flux.interval(Duration.ofMillis(1))
                .onBackpressureDrop()
                .subscribe(tick -> STREAM.connectRefused(REFUSAL));
        for (int i = 0; i < MOST; i++) {
            broker.publish(ApplicationMessage.builder("r/" + i)
                            .payload("kept")
                            .qos(QoS.AT_LEAST_ONCE)
                            .retain(true)
                            .build())
                    .block(PATIENCE);
        }
        for (int i = 0; i < CLIENTS; i++) {
            CONNECTED.add(connect((byte) ('0' + i)));
        }
    }

    /** A client of MQTT 3.1.1 whose identifier is that letter. */
    private static Socket connect(byte clientId) throws IOException {
        Socket socket = new Socket("127.0.0.1", broker.listeners().get("tcp").getPort());
        byte[] connect = {0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, 1, clientId};
        socket.getOutputStream().write(connect);
        byte[] answer = socket.getInputStream().readNBytes(4);
        assertThat(answer).containsExactly(0x20, 2, 0, 0);
        return socket;
    }

    @AfterAll
    static void stop() throws IOException {
        for (Socket socket : CONNECTED) {
            socket.close();
        }
        happenings.dispose();
        broker.close(Duration.ofSeconds(5)).block(PATIENCE);
    }

    @AfterEach
    void theSuiteAppliesToAGoodPart() {
        assertThat(applied.get()).isGreaterThanOrEqualTo(leastApplied);
    }

    private static final class Suite extends PublisherVerification<Object> {

        private final LongFunction<Publisher<Object>> source;
        private final int most;

        Suite(LongFunction<Publisher<Object>> source, int most) {
            super(new TestEnvironment(TIMEOUT_MILLIS, SILENCE_MILLIS, POLL_MILLIS), 1_000);
            this.source = source;
            this.most = most;
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
            return most;
        }
    }

    /** For publishers of one element at most. */
    private Stream<DynamicTest> suiteOfOne(Supplier<Mono<?>> source) {
        leastApplied = LEAST_APPLIED_TO_ONE;
        return suite(elements -> elements == 0 ? Flux.empty() : source.get().cast(Object.class), 1);
    }

    private Stream<DynamicTest> suite(LongFunction<Publisher<Object>> source) {
        return suite(source, MOST);
    }

    private Stream<DynamicTest> suite(LongFunction<Publisher<Object>> source, int most) {
        return Arrays.stream(PublisherVerification.class.getMethods())
                .filter(method -> method.isAnnotationPresent(org.testng.annotations.Test.class))
                .sorted(Comparator.comparing(Method::getName))
                .map(test -> DynamicTest.dynamicTest(test.getName(), () -> run(source, most, test)));
    }

    private void run(LongFunction<Publisher<Object>> source, int most, Method test) throws Throwable {
        Suite suite = new Suite(source, most);
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
    Stream<DynamicTest> whoIsConnected() {
        leastApplied = LEAST_APPLIED_TO_ONE;
        return suite(elements -> broker.clients().cast(Object.class).take(elements), CLIENTS);
    }

    @TestFactory
    Stream<DynamicTest> oneClient() {
        return suiteOfOne(() -> broker.client("1"));
    }

    @TestFactory
    Stream<DynamicTest> whatBecomesOfAMessage() {
        return suiteOfOne(() -> broker.explain("r/1", "1"));
    }

    @TestFactory
    Stream<DynamicTest> publishedMessages() {
        return suiteOfOne(() -> broker.publish(
                ApplicationMessage.builder("nobody/wants").payload("x").build()));
    }

    @TestFactory
    Stream<DynamicTest> events() {
        return suite(elements -> STREAM.events().cast(Object.class).take(elements));
    }
}
