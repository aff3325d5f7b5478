// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.topic.TopicFilter;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The broker ends, whatever its parts do, and says which of them did not. */
@Timeout(60)
class CloseTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final CountDownLatch hanging = new CountDownLatch(1);

    @BeforeEach
    void listen() {
        log.start();
        ((Logger) LoggerFactory.getLogger(Broker.class)).addAppender(log);
    }

    @AfterEach
    void letGo() {
        ((Logger) LoggerFactory.getLogger(Broker.class)).detachAppender(log);
        hanging.countDown();
    }

    private void startAndClose(UnaryOperator<BrokerBuilder> parts) {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        BrokerBuilder builder = parts.apply(Broker.builder().config(config));
        builder.patience = Duration.ofMillis(200);
        Broker broker = builder.start().block(PATIENCE);
        broker.close(Duration.ZERO).block(PATIENCE);
        broker.close(Duration.ZERO).block(PATIENCE);
    }

    private void assertLogged(String text) {
        assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage).anyMatch(line -> line.contains(text));
    }

    /** Does nothing, and what it is told to at one of its methods. */
    private static <T> T doing(Class<T> type, String method, Runnable action) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, called, given) -> {
            if (called.getName().equals(method)) {
                action.run();
            }
            if (called.getReturnType() == StoreWriter.class) {
                return doing(StoreWriter.class, method, action);
            }
            if (called.getReturnType() == boolean.class) {
                return false;
            }
            return called.getReturnType() == long.class ? (Object) 0L : null;
        }));
    }

    private void hang() {
        try {
            hanging.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void fail() {
        throw new IllegalStateException("as the test wants it");
    }

    @Test
    void aStoreThatHangsIsLeftBehind() {
        startAndClose(builder -> builder.store(doing(BrokerStore.class, "close", this::hang)));
        assertLogged("closing the store did not complete within");
    }

    @Test
    void aStoreThatFailsIsLeftBehind() {
        startAndClose(builder -> builder.store(doing(BrokerStore.class, "close", CloseTest::fail)));
        assertLogged("closing the store failed");
    }

    @Test
    void anEventLoopThatCannotHandOverWhatItHasWrittenIsLeftBehind() {
        startAndClose(builder -> builder.store(doing(BrokerStore.class, "flush", CloseTest::fail)));
        assertLogged("flushing the store failed");
    }

    /** The last member of a group, which is nowhere on this node. */
    private record Elsewhere(List<String> texts) implements Subscriber {

        @Override
        public String id() {
            return "elsewhere";
        }

        @Override
        public @Nullable RoutingLoop owner() {
            return null;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            texts.add(message.payload().asString());
        }

        @Override
        public boolean isOnline() {
            return true;
        }

        @Override
        public String relaysTo() {
            return "elsewhere";
        }

        @Override
        public int inFlightCount() {
            return 0;
        }
    }

    /** Notes how many messages are elsewhere when it is told to stop. */
    private static final class CountingModule implements BrokerModule {

        private final List<String> texts = new CopyOnWriteArrayList<>();
        private volatile @Nullable Core core;
        private volatile int atTheEnd = -1;

        @Override
        public Mono<Void> start(Core given) {
            core = given;
            return Mono.empty();
        }

        void join() {
            Objects.requireNonNull(core)
                    .router()
                    .index()
                    .add(new Subscription(
                            new Elsewhere(texts),
                            TopicFilter.of("t"),
                            "g",
                            QoS.EXACTLY_ONCE,
                            false,
                            true,
                            Subscription.NO_IDENTIFIER));
        }

        @Override
        public Mono<Void> stop() {
            return Mono.fromRunnable(() -> atTheEnd = texts.size());
        }
    }

    @Test
    void whatConsumersLeaveIsWithOtherMembersBeforeModulesEnd() {
        CountingModule module = new CountingModule();
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .eventLoops(2)
                .build();
        Broker broker = Broker.builder().config(config).module(module).start().block(PATIENCE);
        for (int i = 0; i < 6; i++) { // on both event loops, and none acknowledges
            broker.receive("t", ConsumerOptions.DEFAULTS.shared("g")).subscribe();
        }
        await().atMost(PATIENCE)
                .until(() -> broker.clients()
                                .filter(info -> info.subscriptions() == 1)
                                .count()
                                .block(PATIENCE)
                        == 6);
        int count = 600;
        Flux.range(0, count)
                .concatMap(i -> broker.publish(ApplicationMessage.builder("t")
                        .payload("m" + i)
                        .qos(QoS.AT_LEAST_ONCE)
                        .build()))
                .blockLast(PATIENCE);
        module.join();

        broker.close(Duration.ZERO).block(PATIENCE);

        assertThat(module.atTheEnd).isEqualTo(count);
        assertThat(module.texts).hasSize(count).doesNotHaveDuplicates();
    }

    @Test
    void modulesGetTheTimeInWhichClientsHaveToGo() {
        AtomicReference<Duration> during = new AtomicReference<>();
        startAndClose(builder -> builder.module(new BrokerModule() {
            @Override
            public Mono<Void> start(Core core) {
                return Mono.empty();
            }

            @Override
            public Duration drainTime() {
                return Duration.ofHours(1);
            }

            @Override
            public void draining(Duration time) {
                during.set(time);
            }

            @Override
            public Mono<Void> stop() {
                return Mono.empty();
            }
        }));
        assertThat(during.get()).isEqualTo(Duration.ZERO); // half of the deadline
    }

    @Test
    void aModuleThatFailsToDrainIsLeftBehind() {
        startAndClose(builder -> builder.module(new BrokerModule() {
            @Override
            public Mono<Void> start(Core core) {
                return Mono.empty();
            }

            @Override
            public void draining() {
                fail();
            }

            @Override
            public Mono<Void> stop() {
                throw new IllegalStateException("as the test wants it");
            }
        }));
        assertLogged("notifying modules failed");
        assertLogged("stopping io.smqtt.CloseTest");
    }
}
