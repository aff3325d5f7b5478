// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A session that is taken over again and again, on real event loops, while others publish to it. */
@Tag("slow")
@Timeout(120)
class SessionMoveTest {

    private static final int LOOPS = 3;
    private static final int MOVES = 2_000;

    private final DefaultEventExecutorGroup group = new DefaultEventExecutorGroup(LOOPS);
    private final CountingObserver observer = new CountingObserver();
    private final QueueBudget budget = new QueueBudget(1L << 30);
    private final Router router;
    private final SessionRegistry registry;
    private final AtomicInteger[] next = new AtomicInteger[LOOPS];
    private final List<String> disorder = new ArrayList<>();

    SessionMoveTest() {
        List<EventExecutor> executors = new ArrayList<>();
        group.forEach(executors::add);
        router = new Router(
                executors,
                new SubscriptionIndex(SharedStrategy.ROUND_ROBIN),
                new RetainedMessages(10, 1_000),
                observer);
        List<DeadlineWheel> wheels = new ArrayList<>();
        for (int i = 0; i < LOOPS; i++) {
            wheels.add(new DeadlineWheel(System::nanoTime));
            next[i] = new AtomicInteger();
        }
        registry = new SessionRegistry(
                router,
                wheels,
                new SessionBench.Rules(),
                observer,
                System::nanoTime,
                LimitsConfig.builder()
                        .maxQueuedMessages(10_000_000)
                        .maxQueuedBytes(1L << 30)
                        .build(),
                SessionConfig.builder().queueQos0(true).build(),
                budget);
    }

    @AfterEach
    void shutDown() {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** A client that acknowledges what it gets a moment later, and checks that each publisher's numbers only rise. */
    private final class Client implements PacketSink, SessionRequest.Reply {

        private final RoutingLoop loop;
        private final CompletableFuture<Session> opened = new CompletableFuture<>();

        Client(RoutingLoop loop) {
            this.loop = loop;
        }

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public int sendMaximum() {
            return 65_535;
        }

        @Override
        public boolean publish(
                ApplicationMessage message,
                Subscription subscription,
                QoS qos,
                boolean retain,
                int packetId,
                boolean duplicate) {
            if (!loop.executor().inEventLoop()) {
                note("written on a foreign thread");
            }
            String[] parts = message.payload().asString().split(":");
            AtomicInteger expected = next[Integer.parseInt(parts[0])];
            int number = Integer.parseInt(parts[1]);
            if (!expected.compareAndSet(number, number + 1)) {
                note("expected " + parts[0] + ":" + expected + " got "
                        + message.payload().asString());
            }
            session().onPubAck(packetId, ReasonCode.SUCCESS);
            return true;
        }

        private Session session() {
            return (Session) java.util.Objects.requireNonNull(registry.find("c"));
        }

        @Override
        public void pubRel(int packetId) {
            note("a PUBREL at QoS 1");
        }

        @Override
        public void disconnect(ReasonCode reason) {
            if (reason != ReasonCode.SESSION_TAKEN_OVER) {
                note("disconnected: " + reason);
            }
        }

        @Override
        public void opened(Session session, boolean sessionPresent) {
            session.start();
            opened.complete(session);
        }

        @Override
        public void refused(ReasonCode reason) {
            note("refused: " + reason);
        }
    }

    private void note(String what) {
        synchronized (disorder) {
            disorder.add(what);
        }
    }

    private Client open(int loop) {
        RoutingLoop target = router.loops().get(loop);
        Client client = new Client(target);
        target.executor()
                .execute(() -> registry.open(new SessionRequest(
                        SessionBench.client("c", null), false, 1_000, null, client, target, client)));
        return client;
    }

    @Test
    void theOrderOfEachPublisherSurvivesThousandsOfMoves() throws Exception { // [MQTT-4.6.0-6]
        Random random = new Random(42);
        Session session = open(0).opened.get(10, TimeUnit.SECONDS);
        session.owner()
                .executor()
                .submit(() -> session.subscriptions()
                        .subscribe(new Subscription(
                                session,
                                TopicFilter.of("t"),
                                null,
                                QoS.AT_LEAST_ONCE,
                                false,
                                false,
                                Subscription.NO_IDENTIFIER)))
                .sync();
        AtomicInteger[] published = new AtomicInteger[LOOPS];
        List<Runnable> publishers = new ArrayList<>();
        boolean[] stop = {false};
        for (int i = 0; i < LOOPS; i++) {
            published[i] = new AtomicInteger();
            publishers.add(publisher(i, published[i], stop));
            router.loops().get(i).executor().execute(publishers.get(i));
        }
        for (int move = 0; move < MOVES; move++) {
            Client client = open(random.nextInt(LOOPS));
            if (random.nextInt(6) == 0) { // else several at once
                client.opened.get(10, TimeUnit.SECONDS);
            }
        }
        for (int i = 0; i < LOOPS; i++) {
            RoutingLoop loop = router.loops().get(i);
            loop.executor().submit(() -> stop[0] = true).sync();
        }
        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
            for (int i = 0; i < LOOPS; i++) {
                assertThat(next[i].get()).isEqualTo(published[i].get());
            }
        });
        synchronized (disorder) {
            assertThat(disorder).isEmpty();
        }
        await().untilAsserted(() -> assertThat(budget.bytes()).isZero());
        assertThat(observer.matched.sum()).isEqualTo(observer.delivered.sum());
        assertThat(observer.dropped).isEmpty();
        assertThat(observer.abandoned).isEmpty();
        for (AtomicInteger count : published) {
            assertThat(count.get()).isPositive();
        }
    }

    /** Publishes a few messages per pass of its loop, as long as the client keeps up. */
    private Runnable publisher(int number, AtomicInteger published, boolean[] stop) {
        RoutingLoop loop = router.loops().get(number);
        return new Runnable() {
            @Override
            public void run() {
                for (int i = 0; i < 3 && published.get() - next[number].get() < 200; i++) {
                    ApplicationMessage message = ApplicationMessage.builder("t")
                            .payload(number + ":" + published.getAndIncrement())
                            .qos(QoS.AT_LEAST_ONCE)
                            .build();
                    router.route(loop, message, RouteTicket.NONE);
                }
                if (!stop[0]) {
                    loop.executor().execute(this);
                }
            }
        };
    }
}
