// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever happens, each delivery that came about was delivered, was dropped for a reason, or waits. */
class AccountTest {

    private static final int CLIENTS = 8;
    private static final String[] FILTERS = {"a", "b", "#", "+", "$share/g/a", "$share/g/#", "$share/h/b"};

    private Random random;
    private SessionBench bench;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void theAccountBalances(int seed) {
        random = new Random(seed);
        bench = new SessionBench(
                3,
                LimitsConfig.builder()
                        .maxQueuedMessages(6)
                        .maxQueuedBytes(1_000)
                        .build(),
                SessionConfig.builder()
                        .queueQos0(seed % 2 == 0)
                        .dropPolicy(seed % 3 == 0 ? DropPolicy.OLDEST : DropPolicy.NEWEST)
                        .build());
        bench.rules.checksDeliveries = true;
        for (int step = 0; step < 20_000; step++) {
            act("c" + random.nextInt(CLIENTS));
            if (random.nextInt(20) == 0) {
                bench.run();
                assertBalance();
            }
        }
        bench.run();
        assertBalance();
        assertThat(bench.observer.dropped).hasSizeGreaterThan(5);
        assertThat(bench.observer.delivered.sum()).isGreaterThan(1_000);
        endAll();
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
        assertThat(bench.budget.bytes()).isZero();
    }

    private void assertBalance() {
        long waiting =
                bench.registry.all().stream().mapToLong(Session::queuedCount).sum() + bench.registry.queuedForGroups();
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended() + waiting);
    }

    private void endAll() {
        for (Session session : bench.registry.all()) {
            session.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        }
        bench.run();
    }

    private void act(String id) {
        Session session = bench.registry.find(id);
        switch (random.nextInt(14)) {
            case 0 -> connect(id);
            case 1 -> onLoop(session, sink -> session.connectionEnded(sink, random.nextBoolean(), -1));
            case 2 -> onLoop(session, sink -> subscribe(session));
            case 3 -> onLoop(session, sink -> sink.writable = random.nextInt(3) > 0);
            case 4 -> onLoop(session, sink -> session.start());
            case 5 -> bench.rules.denied = random.nextInt(5) == 0 ? Set.of("RECEIVE a") : Set.of();
            case 6 -> bench.pass(Duration.ofMillis(random.nextInt(1_500)));
            case 7, 8, 9 -> onLoop(session, sink -> acknowledge(session, sink));
            default -> publish();
        }
        bench.rules.generation++;
    }

    private static void onLoop(Session session, Consumer<RecordingSink> task) {
        if (session != null) {
            session.execute(() -> {
                if (session.sink() instanceof RecordingSink sink) {
                    task.accept(sink);
                }
            });
        }
    }

    private void connect(String id) {
        RecordingSink sink = new RecordingSink();
        sink.sendMaximum = 1 + random.nextInt(4);
        sink.largestPayload = random.nextInt(4) == 0 ? 5 : 1_000;
        bench.request(id, random.nextInt(3), random.nextInt(6) == 0, random.nextInt(4), sink);
    }

    private void subscribe(Session session) {
        String filter = FILTERS[random.nextInt(FILTERS.length)];
        Subscription subscription = SessionBench.subscribe(session, filter, QoS.of(random.nextInt(3)));
        if (subscription.shareName() == null && random.nextBoolean()) {
            session.deliverRetained(bench.router.retained().cursor(TopicFilter.of(filter)), subscription);
        }
    }

    private void acknowledge(Session session, RecordingSink sink) {
        for (RecordingSink.Sent sent : List.copyOf(sink.sent)) {
            ReasonCode reason = random.nextInt(10) == 0 ? ReasonCode.UNSPECIFIED_ERROR : ReasonCode.SUCCESS;
            if (sent.qos() == QoS.AT_LEAST_ONCE) {
                session.onPubAck(sent.packetId(), reason);
            } else if (sent.qos() == QoS.EXACTLY_ONCE && random.nextBoolean()) {
                session.onPubRec(sent.packetId(), reason);
            } else if (sent.qos() == QoS.EXACTLY_ONCE) {
                session.onPubComp(sent.packetId());
            }
            if (random.nextInt(3) == 0) {
                return;
            }
        }
    }

    private void publish() {
        ApplicationMessage.Builder message = ApplicationMessage.builder(random.nextBoolean() ? "a" : "b")
                .payload("x".repeat(random.nextInt(20)))
                .qos(QoS.of(random.nextInt(3)))
                .retain(random.nextInt(8) == 0);
        if (random.nextInt(5) == 0) {
            message.expiryInterval(Duration.ofSeconds(random.nextInt(3)));
        }
        ApplicationMessage accepted = message.build().accepted(bench.ids.next(), bench.nanos, "publisher");
        if (accepted.retain()) {
            bench.router.retain(accepted);
        }
        bench.router.route(bench.loop(random.nextInt(3)), accepted, RouteTicket.NONE);
    }
}
