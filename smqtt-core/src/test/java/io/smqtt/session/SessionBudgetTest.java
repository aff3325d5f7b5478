// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What sessions hold is counted, given back, and limited for a session, a user and all. */
final class SessionBudgetTest {

    private static final long HOUR = 3_600;

    private static SessionBench bench(long session, long user, long all) {
        LimitsConfig limits = LimitsConfig.builder()
                .maxSessionBytes(session)
                .maxUserSessionBytes(user)
                .maxTotalSessionBytes(all)
                .build();
        return new SessionBench(2, limits, SessionConfig.defaults());
    }

    private static Will large(int bytes, long delaySeconds) {
        return new Will(
                ApplicationMessage.builder("gone").payload("x".repeat(bytes)).build(), delaySeconds);
    }

    private static SessionBench.Outcome connect(
            SessionBench bench, String id, @Nullable String user, @Nullable Will will, RecordingSink sink) {
        SessionBench.Outcome outcome = bench.request(SessionBench.client(id, user), 0, false, HOUR, will, sink);
        bench.run();
        return outcome;
    }

    @Test
    void everythingThatIsCountedIsGivenBack() {
        SessionBench bench = bench(1 << 20, 1 << 20, 1 << 20);
        for (int round = 0; round < 3; round++) {
            RecordingSink first = new RecordingSink();
            Session session = connect(bench, "a", "u", large(5_000, 60), first).session;
            SessionBench.subscribe(session, "a/+/c", QoS.AT_LEAST_ONCE);
            SessionBench.subscribe(session, "$share/g/a/b", QoS.AT_LEAST_ONCE);
            SessionBench.subscribe(session, "a/+/c", QoS.AT_MOST_ONCE); // replaces
            assertThat(bench.registry.budget().bytes())
                    .isEqualTo(session.charge().bytes())
                    .isBetween(6_000L, 7_000L);
            session.subscriptions().unsubscribe(TopicFilter.of("a/b"), "g");
            RecordingSink second = new RecordingSink();
            connect(bench, "a", "u", large(100, 60), second); // another will
            assertThat(session.sink()).isSameAs(second);
            assertThat(session.charge().bytes()).isLessThan(2_000);
            session.connectionEnded(second, true, -1);
            bench.pass(Duration.ofSeconds(61)); // the will is published
            int withoutWill = session.charge().bytes();
            assertThat(withoutWill).isLessThan(1_500);
            bench.pass(Duration.ofSeconds(HOUR));
            assertThat(session.hasEnded()).isTrue();
            assertThat(bench.registry.budget().bytes()).isZero();
        }
    }

    @Test
    void whatIsKeptForMessagesCountsWhileTheClientIsAway() {
        SessionBench bench = bench(1 << 20, 1 << 20, 1 << 20);
        RecordingSink sink = new RecordingSink();
        Session session = connect(bench, "a", "u", null, sink).session;
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        int connected = session.charge().bytes();
        session.inbound().received(65_535);
        assertThat(session.charge().bytes()).isEqualTo(connected);

        session.connectionEnded(sink, false, -1);
        assertThat(session.charge().bytes() - connected).isBetween(8_192, 8_300);
        bench.publish(0, "t", "1", QoS.AT_LEAST_ONCE);
        bench.publish(0, "t", "2", QoS.AT_LEAST_ONCE);
        bench.run();
        assertThat(session.charge().bytes() - connected).isBetween(8_700, 9_000);
        assertThat(bench.registry.budget().bytes()).isEqualTo(session.charge().bytes());

        RecordingSink again = new RecordingSink();
        connect(bench, "a", "u", null, again);
        assertThat(session.charge().bytes()).isEqualTo(connected);
        session.connectionEnded(again, false, -1);
        assertThat(session.charge().bytes() - connected).isBetween(8_700, 9_000);
        bench.pass(Duration.ofSeconds(HOUR + 1));
        assertThat(bench.registry.budget().bytes()).isZero();
    }

    @Test
    void aWillThatDoesNotFitIsRefusedAndTheSessionStaysAsItWas() {
        SessionBench bench = bench(10_000, 1 << 20, 1 << 20);
        RecordingSink first = new RecordingSink();
        Session session = connect(bench, "a", null, large(100, 60), first).session;
        int before = session.charge().bytes();

        SessionBench.Outcome refused = connect(bench, "a", null, large(20_000, 60), new RecordingSink());

        assertThat(refused.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(session.sink()).isSameAs(first);
        assertThat(session.charge().bytes()).isEqualTo(before);
        assertThat(connect(bench, "b", null, large(20_000, 60), new RecordingSink()).refusal)
                .isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(bench.registry.find("b")).isNull();
        assertThat(bench.registry.budget().bytes()).isEqualTo(before);
        assertThat(bench.observer.life).contains("refused limits.max-session-bytes");
    }

    @Test
    void aCleanStartWithAWillThatDoesNotFitEndsNothing() {
        SessionBench bench = bench(10_000, 1 << 20, 1 << 20);
        RecordingSink first = new RecordingSink();
        Session session = connect(bench, "a", null, null, first).session;

        SessionBench.Outcome refused =
                bench.request(SessionBench.client("a", null), 1, true, HOUR, large(20_000, 60), new RecordingSink());
        bench.run();

        assertThat(refused.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(session.hasEnded()).isFalse();
        assertThat(session.sink()).isSameAs(first);
        assertThat(bench.registry.budget().bytes()).isEqualTo(session.charge().bytes());
    }

    @Test
    void aSessionInThePlaceOfAnotherOneHasTheWholeLimitOfASessionAndNoMore() {
        SessionBench bench = bench(10_000, 1 << 20, 1 << 20);
        Session session = connect(bench, "a", null, large(8_000, 60), new RecordingSink()).session;

        SessionBench.Outcome refused =
                bench.request(SessionBench.client("a", null), 1, true, HOUR, large(15_000, 60), new RecordingSink());
        bench.run();
        assertThat(refused.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(session.hasEnded()).isFalse();

        SessionBench.Outcome fits =
                bench.request(SessionBench.client("a", null), 1, true, HOUR, large(9_000, 60), new RecordingSink());
        bench.run();
        assertThat(fits.refusal).isNull();
        assertThat(bench.registry.budget().bytes())
                .isEqualTo(fits.session.charge().bytes());
    }

    @Test
    void aSessionInThePlaceOfOneOfAnotherUserCountsInFull() {
        LimitsConfig limits = LimitsConfig.builder()
                .maxSessionBytes(10_000)
                .maxUserSessionBytes(12_000)
                .maxTotalSessionBytes(1 << 20)
                .build();
        SessionBench bench = new SessionBench(
                2, limits, SessionConfig.builder().bindToUser(false).build());
        connect(bench, "b", "v", large(8_000, 60), new RecordingSink());
        connect(bench, "a", "u", large(6_000, 60), new RecordingSink());

        SessionBench.Outcome refused =
                bench.request(SessionBench.client("a", "v"), 0, true, HOUR, large(5_000, 60), new RecordingSink());
        bench.run();

        assertThat(refused.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(bench.observer.life).contains("refused limits.max-user-session-bytes");
        assertThat(connect(bench, "a", "v", large(5_000, 60), new RecordingSink()).refusal)
                .isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(connect(bench, "a", "u", large(5_000, 60), new RecordingSink()).refusal)
                .isNull();
    }

    private static StoredSubscription stored(String clientFilter) {
        return new StoredSubscription(clientFilter, QoS.AT_LEAST_ONCE, false, false, Subscription.NO_IDENTIFIER);
    }

    private static SessionState elsewhere(String clientId, String... filters) {
        List<StoredSubscription> subscriptions =
                Stream.of(filters).map(SessionBudgetTest::stored).toList();
        return new SessionState(clientId, null, HOUR, 1, 0, subscriptions, List.of());
    }

    @Test
    void aSessionThatArrivesCountsInThePlaceOfTheOneThatWasHere() {
        SessionBench bench = bench(10_000, 12_000, 1 << 20);
        Session here = bench.open("a", 0, false, HOUR, new RecordingSink());
        SessionBench.subscribe(here, "x".repeat(8_000), QoS.AT_LEAST_ONCE);
        List<Boolean> installed = new ArrayList<>();

        SessionArrival arrival = bench.registry.arrive(elsewhere("a", "y".repeat(8_000)));
        arrival.install(installed::add);
        bench.run();
        arrival.finish(() -> {});
        bench.run();

        assertThat(installed).containsExactly(true);
        assertThat(here.hasEnded()).isTrue();
        assertThat(bench.registry.budget().bytes())
                .isEqualTo(bench.registry.find("a").charge().bytes());
        bench.registry.arrive(elsewhere("b", "y".repeat(8_000))).install(installed::add);
        bench.run();
        assertThat(installed).containsExactly(true, false);
    }

    @Test
    void aSessionDoesNotArriveWhereNoMoreSessionsAreAllowed() {
        SessionBench bench =
                new SessionBench(2, LimitsConfig.builder().maxSessions(2).build(), SessionConfig.defaults());
        bench.open("a", 0, false, HOUR, new RecordingSink());
        List<Boolean> installed = new ArrayList<>();
        for (String clientId : List.of("b", "c", "a")) { // the last one in the place of one here
            bench.registry.arrive(elsewhere(clientId, "t")).install(installed::add);
            bench.run();
        }

        assertThat(installed).containsExactly(true, false, true);
        assertThat(bench.registry.all()).hasSize(2);
    }

    @Test
    void aSessionDoesNotArriveWhereItsUserMayHaveNoMoreSessions() {
        SessionBench bench =
                new SessionBench(2, LimitsConfig.builder().maxSessionsPerUser(2).build(), SessionConfig.defaults());
        bench.open("a", 0, false, HOUR, new RecordingSink());
        List<Boolean> installed = new ArrayList<>();
        for (String clientId : List.of("b", "c", "a")) { // the last one in the place of one here
            bench.registry.arrive(elsewhere(clientId, "t")).install(installed::add);
            bench.run();
        }

        assertThat(installed).containsExactly(true, false, true);
        assertThat(bench.registry.all()).hasSize(2);
    }

    @Test
    void whatDoesNotFitIntoOneSessionOfTwoIsRefusedAndToldOnce() {
        LimitsConfig limits = LimitsConfig.builder()
                .maxSessionBytes(10_000)
                .maxUserSessionBytes(1 << 20)
                .maxTotalSessionBytes(1 << 20)
                .maxSubscriptionsPerClient(3)
                .build();
        SessionBench bench = new SessionBench(2, limits, SessionConfig.defaults());
        Session here = bench.open("a", 0, false, HOUR, new RecordingSink());
        SessionBench.subscribe(here, "here", QoS.AT_LEAST_ONCE);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(MergingTransfer.class);
        log.start();
        logger.addAppender(log);
        List<Boolean> installed = new ArrayList<>();
        try {
            SessionState other = elsewhere("a", "here", "x".repeat(12_000), "1", "2", "3", "4");
            here.claimClock(2);
            SessionArrival arrival = bench.registry.merge(other);
            arrival.install(installed::add);
            arrival.finish(() -> {});
            bench.run();
        } finally {
            logger.detachAppender(log);
        }

        assertThat(installed).containsExactly(true);
        assertThat(here.subscriptions().size()).isEqualTo(3);
        assertThat(here.subscriptions().get("2")).isNotNull();
        assertThat(bench.observer.life)
                .containsOnlyOnce("refused limits.max-session-bytes")
                .contains("refused limits.max-subscriptions-per-client");
        assertThat(log.list)
                .singleElement()
                .satisfies(line -> assertThat(line.getFormattedMessage())
                        .contains("a has a session here")
                        .contains("of the 6 subscriptions there 3 do not fit"));
    }

    @Test
    void oneUserDoesNotKeepOthersOut() {
        SessionBench bench = bench(10_000, 20_000, 30_000);
        int let = 0;
        while (connect(bench, "one" + let, "one", null, new RecordingSink()).refusal == null) {
            let++;
        }
        assertThat(let).isBetween(15, 40);
        assertThat(bench.request("brief", 0, true, 0, new RecordingSink()).refusal)
                .isNull(); // what is away keeps nobody out who leaves nothing
        assertThat(bench.observer.life).contains("refused limits.max-user-session-bytes");
        int others = 0;
        while (connect(bench, "two" + others, "two", null, new RecordingSink()).refusal == null) {
            others++;
        }
        assertThat(others).isPositive();
        assertThat(bench.observer.life).contains("refused limits.max-total-session-bytes");
        assertThat(bench.registry.budget().bytes()).isLessThanOrEqualTo(30_000);
        assertThat(connect(bench, "one0", "one", null, new RecordingSink()).refusal)
                .isNull(); // who has a session gets it again
    }

    @Test
    void clientsWithoutANameKeepNoConsumerOfThisProcessOut() {
        SessionBench bench = bench(10_000, 20_000, 30_000);
        int let = 0;
        while (connect(bench, "c" + let, null, null, new RecordingSink()).refusal == null) {
            let++;
        }
        while (connect(bench, "d" + let, "d" + let, null, new RecordingSink()).refusal == null) {
            let++;
        }
        assertThat(bench.observer.life)
                .contains("refused limits.max-user-session-bytes", "refused limits.max-total-session-bytes");

        SessionBench.Outcome consumer =
                bench.request(InProcess.identity("orders"), 0, false, HOUR, null, new RecordingSink());
        bench.run();

        assertThat(consumer.refusal).isNull();
        assertThat(consumer.session.subscriptions().hasRoomFor(TopicFilter.of("orders/#"), null))
                .isTrue();
        assertThat(consumer.session.subscriptions().hasRoomFor(TopicFilter.of("o".repeat(9_900)), null))
                .isFalse();
    }

    @Test
    void filtersThatDoNotFitAreRefusedOneByOne() {
        SessionBench bench = bench(10_000, 1 << 20, 1 << 20);
        Session session = bench.open("a", 0, false, HOUR, new RecordingSink());
        String filter = "x".repeat(3_000);
        assertThat(session.subscriptions().hasRoomFor(TopicFilter.of(filter), null))
                .isTrue();
        SessionBench.subscribe(session, filter, QoS.AT_LEAST_ONCE);
        SessionBench.subscribe(session, filter + '2', QoS.AT_LEAST_ONCE);
        assertThat(session.subscriptions().hasRoomFor(TopicFilter.of(filter + '3'), null))
                .isFalse();
        assertThat(session.subscriptions().hasRoomFor(TopicFilter.of("short"), null))
                .isTrue();
        assertThat(session.subscriptions().hasRoomFor(TopicFilter.of("a"), "g".repeat(3_000)))
                .isFalse();
        session.subscriptions().unsubscribe(TopicFilter.of(filter), null);
        assertThat(session.subscriptions().hasRoomFor(TopicFilter.of(filter + '3'), null))
                .isTrue();
    }

    @Test
    void whatIsLeftOutIsFoundByItsClient() {
        LeftOut leftOut = new LeftOut();
        for (int i = 1; i <= 1_000; i++) {
            leftOut.add("client-" + i, i);
        }
        int[] ran = new int[1];
        assertThat(leftOut.begin("client-0", () -> {})).isEqualTo(LeftOut.NONE);
        assertThat(leftOut.begin("client-7", () -> {})).isEqualTo(7);
        assertThat(leftOut.begin("client-7", () -> ran[0]++)).isEqualTo(LeftOut.WAITS);
        leftOut.end("client-7", 7, true);
        assertThat(ran[0]).isOne();
        assertThat(leftOut.begin("client-7", () -> {})).isEqualTo(7);
        leftOut.end("client-7", 7, false);
        assertThat(leftOut.begin("client-7", () -> {})).isEqualTo(LeftOut.NONE);
        for (int i = 1; i <= 1_000; i++) {
            assertThat(leftOut.begin("client-" + i, () -> {})).isEqualTo(i == 7 ? LeftOut.NONE : i);
        }
    }
}
