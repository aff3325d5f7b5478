// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.spi.DropReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class SessionRegistryTest {

    private SessionBench bench = new SessionBench(3);
    private final RecordingSink first = new RecordingSink();
    private final RecordingSink second = new RecordingSink();

    @Test
    void resumesASessionThatLivesOn() { // [MQTT-3.1.2-5]
        Session session = bench.open("c", 0, false, 60, first);
        session.connectionEnded(first, false, -1);

        SessionBench.Outcome outcome = bench.request("c", 0, false, 60, second);

        assertThat(outcome.session).isSameAs(session);
        assertThat(outcome.present).isTrue();
        assertThat(bench.registry.find("c")).isSameAs(session);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aCleanStartDiscardsTheOldSession(int loop) { // [MQTT-3.1.2-4]
        Session old = bench.open("c", 0, false, 60, first);
        SessionBench.subscribe(old, "t", QoS.AT_LEAST_ONCE);

        SessionBench.Outcome outcome = bench.request("c", loop, true, 60, second);
        bench.run();

        assertThat(outcome.present).isFalse();
        assertThat(outcome.session).isNotSameAs(old).isSameAs(bench.registry.find("c"));
        assertThat(outcome.session.subscriptions().size()).isZero();
        assertThat(old.hasEnded()).isTrue();
        assertThat(first.disconnects).containsExactly(ReasonCode.SESSION_TAKEN_OVER); // [MQTT-3.1.4-3]
        assertThat(bench.router.index().size()).isZero();
        assertThat(bench.observer.life).containsExactly("created c", "taken over c", "ended c", "created c");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aSessionWithoutExpiryEndsWithItsConnectionAlsoByTakeover(int loop) { // [MQTT-3.1.2-23]
        Session old = bench.open("c", 0, true, 0, first);
        SessionBench.subscribe(old, "t", QoS.AT_LEAST_ONCE);

        SessionBench.Outcome outcome = bench.request("c", loop, false, 60, second);
        bench.run();

        assertThat(outcome.present).isFalse();
        assertThat(outcome.session).isNotSameAs(old);
        assertThat(old.hasEnded()).isTrue();
    }

    @Test
    void aTakenOverConnectionEndsNothingAfterwards() {
        Session session = bench.open("c", 0, false, 60, first);
        bench.open("c", 1, false, 60, second);

        session.connectionEnded(first, true, 0);

        assertThat(session.isOnline()).isTrue();
        assertThat(session.hasEnded()).isFalse();
        assertThat(session.sink()).isSameAs(second);
        assertThat(session.owner()).isSameAs(bench.loop(1));
    }

    @Test
    void manyTakeoversAtOnceLeaveOneConnection() {
        RecordingSink[] sinks = new RecordingSink[30];
        for (int i = 0; i < sinks.length; i++) {
            sinks[i] = new RecordingSink();
            bench.request("c", i % 3, i % 5 == 4, 60, sinks[i]);
        }
        bench.run();

        Session session = bench.registry.find("c");
        int told = 0;
        for (RecordingSink sink : sinks) {
            assertThat(sink.disconnects.size() + (session.sink() == sink ? 1 : 0))
                    .isEqualTo(1);
            told += sink.disconnects.size();
        }
        assertThat(told).isEqualTo(29);
        assertThat(bench.registry.all()).hasSize(1);
    }

    @Test
    void expiresInTime() { // [MQTT-3.1.2-23]
        Session session = bench.open("c", 0, false, 10, first);
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        session.connectionEnded(first, false, -1);
        bench.pass(Duration.ofSeconds(9));
        assertThat(bench.registry.find("c")).isSameAs(session);

        bench.pass(Duration.ofSeconds(2));

        assertThat(bench.registry.find("c")).isNull();
        assertThat(bench.observer.life).containsExactly("created c", "expired c");
        assertThat(bench.router.index().size()).isZero();
    }

    @Test
    void theDisconnectMayChangeTheExpiry() { // [MQTT-3.14.2-1]
        Session session = bench.open("c", 0, false, 10, first);
        session.connectionEnded(first, false, 100);
        bench.pass(Duration.ofSeconds(50));
        assertThat(session.hasEnded()).isFalse();
        assertThat(session.expirySeconds()).isEqualTo(100);
        bench.pass(Duration.ofSeconds(51));
        assertThat(session.hasEnded()).isTrue();
    }

    private Session openWithWill(long delaySeconds, long expirySeconds) {
        bench.request(
                SessionBench.client("c", null), 0, false, expirySeconds, SessionBench.will("w", delaySeconds), first);
        return bench.registry.find("c");
    }

    private long wills() {
        bench.run();
        return bench.observer.life.stream().filter("will c"::equals).count();
    }

    @Test
    void theWillIsPublishedWhenTheConnectionIsLost() { // [MQTT-3.1.2-8]
        openWithWill(0, 60).connectionEnded(first, true, -1);
        assertThat(wills()).isEqualTo(1);
        bench.pass(Duration.ofSeconds(100));
        assertThat(wills()).isEqualTo(1);
    }

    @Test
    void onlyTheWillThatWasSettledElsewhereIsForgotten() {
        Will will = SessionBench.will("w", 0);
        bench.request(SessionBench.client("c", null), 0, false, 60, will, first);
        bench.registry.willSettledElsewhere("c", null); // one of before
        bench.registry.willSettledElsewhere("c", SessionBench.will("w", 0)); // one of another connection
        bench.run();
        Session session = bench.registry.find("c");
        session.connectionEnded(first, true, -1);
        assertThat(wills()).isEqualTo(1);

        bench.request(SessionBench.client("c", null), 0, false, 60, will, second);
        bench.registry.willSettledElsewhere("c", will);
        bench.run();
        session.connectionEnded(second, true, -1);
        assertThat(wills()).isEqualTo(1);
    }

    @Test
    void theWillIsForgottenAfterANormalDisconnect() { // [MQTT-3.14.4-3]
        openWithWill(5, 60).connectionEnded(first, false, -1);
        bench.pass(Duration.ofSeconds(100));
        assertThat(wills()).isZero();
    }

    @Test
    void theWillWaitsForItsDelay() { // [MQTT-3.1.3-9]
        openWithWill(5, 60).connectionEnded(first, true, -1);
        bench.pass(Duration.ofSeconds(4));
        assertThat(wills()).isZero();
        bench.pass(Duration.ofSeconds(2));
        assertThat(wills()).isEqualTo(1);
    }

    @Test
    void theWillDoesNotOutliveTheSession() { // [MQTT-3.1.2-10]
        openWithWill(50, 5).connectionEnded(first, true, -1);
        bench.pass(Duration.ofSeconds(6));
        assertThat(wills()).isEqualTo(1);
        assertThat(bench.registry.find("c")).isNull();
    }

    @Test
    void theWillIsPublishedAtOnceIfTheSessionEndsWithTheConnection() {
        openWithWill(50, 0).connectionEnded(first, true, -1);
        assertThat(wills()).isEqualTo(1);
    }

    @Test
    void aClientThatComesBackInTimeStopsItsDelayedWill() {
        openWithWill(5, 60).connectionEnded(first, true, -1);
        bench.pass(Duration.ofSeconds(2));
        bench.open("c", 1, false, 60, second);
        bench.pass(Duration.ofSeconds(20));
        assertThat(wills()).isZero();
    }

    @Test
    void aWillThatIsHeldBecomesDueWhenItIsHeldNoMore() {
        Session session = openWithWill(5, 60);
        session.connectionEnded(first, true, -1);
        bench.pass(Duration.ofSeconds(2));
        Will held = session.absence().holdWill();
        assertThat(held).isNotNull();
        assertThat(held.delaySeconds()).isBetween(2L, 3L);
        bench.pass(Duration.ofSeconds(20));
        assertThat(wills()).isZero();
        assertThat(session.absence().holdWill()).isNotNull();

        session.absence().inheritWill(held);
        bench.pass(Duration.ofSeconds(1));
        assertThat(wills()).isEqualTo(1);
        assertThat(session.absence().holdWill()).isNull();
        bench.pass(Duration.ofSeconds(20));
        assertThat(wills()).isEqualTo(1);
    }

    @Test
    void aCleanStartPublishesAWillThatIsHeld() {
        Session session = openWithWill(50, 60);
        session.connectionEnded(first, true, -1);
        bench.pass(Duration.ofSeconds(1));
        assertThat(session.absence().holdWill()).isNotNull();
        bench.open("c", 1, true, 60, second);
        assertThat(wills()).isEqualTo(1);
    }

    @Test
    void aCleanStartPublishesAWaitingWill() {
        openWithWill(50, 60).connectionEnded(first, true, -1);
        bench.open("c", 1, true, 60, second);
        assertThat(wills()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 7})
    void aTakeoverPublishesTheWillUnlessItIsDelayed(long delaySeconds) {
        openWithWill(delaySeconds, 60);
        bench.open("c", 1, false, 60, second);
        bench.pass(Duration.ofSeconds(20));
        assertThat(wills()).isEqualTo(delaySeconds == 0 ? 1 : 0);
    }

    @Test
    void aTakeoverThatEndsTheSessionPublishesADelayedWillToo() {
        openWithWill(50, 0);
        bench.open("c", 0, false, 60, second);
        assertThat(wills()).isEqualTo(1);
    }

    @Test
    void aWillThatIsNotAllowedIsNotPublished() {
        bench.rules.denied = Set.of("PUBLISH w");
        openWithWill(0, 60).connectionEnded(first, true, -1);
        assertThat(wills()).isZero();
    }

    @Test
    void termination() {
        Session session = openWithWill(50, 60);
        session.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        assertThat(first.disconnects).containsExactly(ReasonCode.ADMINISTRATIVE_ACTION);
        assertThat(wills()).isEqualTo(1);
        assertThat(bench.registry.find("c")).isNull();
    }

    @Test
    void onlyTheSameUserMayClaimASessionIfSoConfigured() {
        bench = new SessionBench(
                2,
                LimitsConfig.defaults(),
                SessionConfig.builder().bindToUser(true).build());
        bench.request(SessionBench.client("c", "alice"), 0, false, 60, null, first);

        SessionBench.Outcome mallory = bench.request(SessionBench.client("c", "mallory"), 1, true, 60, null, second);
        bench.run();
        assertThat(mallory.refusal).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        assertThat(first.disconnects).isEmpty();

        SessionBench.Outcome alice = bench.request(SessionBench.client("c", "alice"), 1, false, 60, null, second);
        bench.run();
        assertThat(alice.present).isTrue();
    }

    /** No client can have its name. */
    @Test
    void theUserOfABridgeMayChange() {
        bench = new SessionBench(
                1,
                LimitsConfig.defaults(),
                SessionConfig.builder().bindToUser(true).build());
        openAs("$bridge/b", "alice", first);

        assertThat(openAs("$bridge/b", "plant", second).present).isTrue();
    }

    @Test
    void theNumberOfSessionsIsLimited() {
        bench = new SessionBench(1, LimitsConfig.builder().maxSessions(2).build(), SessionConfig.defaults());
        bench.open("a", 0, false, 60, first);
        bench.open("b", 0, false, 60, second);

        assertThat(bench.request("c", 0, false, 60, new RecordingSink()).refusal)
                .isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(bench.request("a", 0, false, 60, new RecordingSink()).present)
                .isTrue();
    }

    private SessionBench twoPerUser() {
        return new SessionBench(
                2,
                LimitsConfig.builder().maxSessionsPerUser(2).build(),
                SessionConfig.builder().bindToUser(false).build());
    }

    private SessionBench.Outcome openAs(String id, String user, RecordingSink sink) {
        SessionBench.Outcome outcome = bench.request(SessionBench.client(id, user), 0, false, 60, null, sink);
        bench.run();
        return outcome;
    }

    @Test
    void aUsersOldestAbsentSessionGivesWay() {
        bench = twoPerUser();
        openAs("a", "u", first).session.connectionEnded(first, false, -1);
        openAs("b", "u", second);

        assertThat(openAs("c", "u", new RecordingSink()).session).isNotNull();
        assertThat(bench.registry.find("a")).isNull();
        assertThat(openAs("d", "u", new RecordingSink()).refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(openAs("e", "other", new RecordingSink()).session).isNotNull();
    }

    @Test
    void theAbsentSessionOfABridgeDoesNotGiveWay() {
        bench = twoPerUser();
        openAs("$bridge/b", "u", first).session.connectionEnded(first, false, -1);
        openAs("a", "u", second).session.connectionEnded(second, false, -1);

        assertThat(openAs("c", "u", new RecordingSink()).session).isNotNull();
        assertThat(bench.registry.find("a")).isNull();
        assertThat(bench.registry.find("$bridge/b")).isNotNull();
    }

    @Test
    void aSessionThatChangesUsersIsCountedForTheNewOne() {
        bench = twoPerUser();
        openAs("a", "u", first);
        openAs("a", "v", new RecordingSink());
        openAs("b", "u", new RecordingSink());
        assertThat(openAs("c", "u", new RecordingSink()).refusal).isNull();
        assertThat(openAs("d", "v", new RecordingSink()).refusal).isNull();
        assertThat(openAs("e", "v", new RecordingSink()).refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
    }

    @Test
    void aSessionOnItsWayToItsClientDoesNotGiveWay() {
        bench = twoPerUser();
        Session session = openAs("a", "u", first).session;
        session.connectionEnded(first, false, -1);
        openAs("b", "u", new RecordingSink());
        bench.request(SessionBench.client("a", "u"), 1, false, 60, null, second); // on its way to loop 1
        bench.executors.get(0).runTasks();
        bench.request(SessionBench.client("c", "u"), 0, false, 60, null, new RecordingSink());
        bench.run();

        assertThat(session.hasEnded()).isFalse();
        assertThat(session.sink()).isSameAs(second);
        assertThat(bench.registry.find("a")).isSameAs(session);
    }

    @Test
    void aSessionThatIsEndedOnItsWayIsOpenedAnew() {
        Session session = bench.open("c", 0, false, 60, first);
        SessionBench.Outcome outcome = bench.request("c", 1, false, 60, second);
        bench.executors.get(0).runTasks(); // the move has begun
        session.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        bench.run();

        assertThat(outcome.session).isNotSameAs(session).isSameAs(bench.registry.find("c"));
        assertThat(outcome.present).isFalse();
    }

    @Test
    void whatIsRoutedDuringAMoveComesInOrderAndIsBounded() {
        bench = new SessionBench(3, LimitsConfig.builder().maxQueuedMessages(5).build(), SessionConfig.defaults());
        Session session = bench.open("c", 0, false, 60, first);
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        bench.publish(2, "t", "0", QoS.AT_LEAST_ONCE); // on its way to loop 0
        bench.request("c", 1, false, 60, second);
        bench.executors.get(0).runTasks(); // owned by loop 1 from here on
        for (int i = 1; i <= 10; i++) {
            bench.publish(2, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
        }
        bench.executors.get(1).runTasks();
        for (int i = 11; i <= 20; i++) {
            bench.publish(1, "t", "direct " + i, QoS.AT_LEAST_ONCE);
        }
        bench.run();

        assertThat(second.texts())
                .containsExactly("0", "direct 11", "direct 12", "direct 13", "direct 14", "direct 15");
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.QUEUE_COUNT, 15));
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
        assertThat(bench.budget.bytes()).isZero();
    }

    @Test
    void whatIsHeldBackForASessionOfAnotherNodeStaysInOrderDuringAMove() { // [MQTT-4.6.0-6]
        Session session = bench.open("c", 0, false, 60, first);
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        SessionArrival arrival = bench.registry.merge(new SessionState("c", null, 60, 0, 0, List.of(), List.of()));
        arrival.install(kept -> {});
        bench.run();
        bench.publish(2, "t", "held for the arrival", QoS.AT_LEAST_ONCE);
        bench.run();
        bench.publish(2, "t", "passed on", QoS.AT_LEAST_ONCE);
        bench.request("c", 1, false, 60, second);
        bench.executors.get(0).runTasks();
        bench.publish(2, "t", "held for the move", QoS.AT_LEAST_ONCE);
        bench.run();
        assertThat(session.life().phase()).isEqualTo(SessionPhase.CONNECTED);
        assertThat(second.sent).isEmpty();

        arrival.finish(() -> {});
        bench.run();

        assertThat(second.texts()).containsExactly("held for the arrival", "passed on", "held for the move");
    }

    @Test
    void whatAConsumerMissesDuringAMoveIsToldLikeAnythingElseItMisses() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(ConsumerPressure.class);
        log.start();
        logger.addAppender(log);
        try {
            bench.request(InProcess.identity("orders"), 0, false, 60, null, first);
            bench.run();
            Session session = bench.registry.find(InProcess.PREFIX + "orders");
            LimitsConfig five = LimitsConfig.builder().maxQueuedMessages(5).build();
            session.pressure().set("orders", five, false, Duration.ofHours(1));
            SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
            bench.request(InProcess.identity("orders"), 1, false, 60, null, second);
            bench.executors.get(0).runTasks(); // owned by loop 1 from here on
            bench.executors.get(1).runTasks();
            for (int i = 1; i <= 8; i++) {
                bench.publish(1, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
            }
            bench.run();
        } finally {
            logger.detachAppender(log);
        }

        assertThat(second.texts()).containsExactly("1", "2", "3", "4", "5");
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.QUEUE_COUNT, 3));
        assertThat(log.list).isNotEmpty();
        assertThat(log.list.get(0).getFormattedMessage()).startsWith("messages dropped for orders");
    }

    @Test
    void whatArrivesAfterTheEndIsCountedOrGoesToTheGroup() {
        Session session = bench.open("c", 0, true, 0, first);
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        SessionBench.subscribe(session, "$share/g/s", QoS.AT_LEAST_ONCE);
        bench.publish(1, "t", "plain", QoS.AT_LEAST_ONCE);
        bench.publish(1, "s", "shared", QoS.AT_LEAST_ONCE);
        Session other = bench.open("d", 2, true, 0, second);
        SessionBench.subscribe(other, "$share/g/s", QoS.AT_LEAST_ONCE);
        session.connectionEnded(first, false, -1);
        bench.run();

        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    @Test
    void changedRulesEndSubscriptions() {
        Session session = bench.open("c", 0, false, 60, first);
        SessionBench.subscribe(session, "kept", QoS.AT_LEAST_ONCE);
        SessionBench.subscribe(session, "lost", QoS.AT_LEAST_ONCE);
        bench.rules.denied = Set.of("SUBSCRIBE lost");

        bench.registry.recheckAll();
        bench.run();

        assertThat(session.subscriptions().size()).isEqualTo(1);
        assertThat(bench.router.index().size()).isEqualTo(1);
    }

    @Test
    void aTaskFollowsTheSessionToItsLoop() {
        Session session = bench.open("c", 0, false, 60, first);
        boolean[] ran = {false};
        bench.request("c", 1, false, 60, second);
        session.execute(() -> ran[0] = true);
        bench.executors.get(0).runTasks();
        assertThat(ran[0]).isFalse(); // moved meanwhile

        bench.run();

        assertThat(ran[0]).isTrue();
    }

    @Test
    void aClientThatAuthenticatesAgainHasItsNewRights() {
        bench.rules.checksDeliveries = true;
        Session session = bench.open("c", 0, false, 60, first);
        SessionBench.subscribe(session, "t", QoS.AT_MOST_ONCE);
        bench.publish(0, "t", "before", QoS.AT_MOST_ONCE);
        bench.rules.denied = Set.of("RECEIVE t");
        session.reauthenticated(SessionBench.client("c", null));
        bench.publish(0, "t", "after", QoS.AT_MOST_ONCE);

        assertThat(first.texts()).containsExactly("before");
    }
}
