// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A stored session that did not fit at the start, and what becomes of it when it is claimed. */
class LeftOutClaimTest {

    private static final long HOUR = 3_600;
    private static final String LONG = "x".repeat(3_000);

    private final FoundStore store = new FoundStore();
    private final SessionBench bench = new SessionBench(
            2,
            LimitsConfig.builder()
                    .maxSessionBytes(2_000)
                    .maxUserSessionBytes(8_000)
                    .maxTotalSessionBytes(10_000)
                    .build(),
            SessionConfig.builder().bindToUser(true).build(),
            store);

    private void found(
            long number,
            String clientId,
            @Nullable String user,
            long expirySeconds,
            long expiresAtMillis,
            @Nullable Will will,
            String... filters) {
        StoredSession header = new StoredSession(
                number, clientId, user, expirySeconds, expiresAtMillis, will, StoredSession.CONNECTED);
        List<StoredSubscription> subscriptions = Stream.of(filters)
                .map(filter ->
                        new StoredSubscription(filter, QoS.AT_LEAST_ONCE, false, false, Subscription.NO_IDENTIFIER))
                .toList();
        store.sessions.put(number, new FoundSession(header, new StoredQueue(1, 4, 3, 300), subscriptions, List.of()));
    }

    private void leftOut(String clientId, @Nullable String user, @Nullable Will will, String... filters) {
        found(7, clientId, user, HOUR, StoredSession.NEVER, will, filters);
        start();
    }

    private void start() {
        bench.registry.recover();
        run();
        assertThat(bench.registry.budget().leftOut()).isOne();
        bench.observer.life.clear();
    }

    /** Runs all tasks and commits what they store. */
    private void run() {
        for (int i = 0; i < 5; i++) {
            bench.run();
            store.commit();
        }
        bench.run();
    }

    private SessionBench.Outcome connect(ClientIdentity client, boolean cleanStart, @Nullable Will will) {
        return bench.request(client, 0, cleanStart, HOUR, will, new RecordingSink());
    }

    private static ClientIdentity alice() {
        return SessionBench.client("a", "alice");
    }

    @Test
    void aCleanStartDiscardsIt() {
        leftOut("a", "alice", null, LONG);

        SessionBench.Outcome outcome = connect(alice(), true, null);
        bench.run();
        assertThat(outcome.session).as("not before it is gone for good").isNull();
        run();

        assertThat(outcome.refusal).isNull();
        assertThat(outcome.present).isFalse();
        assertThat(store.removed).containsExactly(7L);
        assertThat(bench.registry.budget().leftOut()).isZero();
        assertThat(bench.registry.budget().bytes())
                .isEqualTo(outcome.session.charge().bytes());
        assertThat(bench.observer.life).containsExactly("ended a", "created a");
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.SESSION_ENDED, 3));
        assertThat(bench.observer.cameAbout()).as("the account balances").isEqualTo(bench.observer.ended());
        assertThat(bench.router.index().size()).isZero();
    }

    @Test
    void whoResumesItIsRefusedAndItStays() {
        leftOut("a", "alice", null, LONG);

        SessionBench.Outcome outcome = connect(alice(), false, null);
        run();

        assertThat(outcome.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(store.removed).isEmpty();
        assertThat(bench.registry.budget().leftOut()).isOne();
        assertThat(bench.registry.budget().bytes()).isZero();
    }

    @Test
    void anotherUserDiscardsNothing() {
        leftOut("a", "alice", null, LONG);

        SessionBench.Outcome outcome = connect(SessionBench.client("a", "mallory"), true, null);
        run();

        assertThat(outcome.refusal).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        assertThat(store.removed).isEmpty();
        assertThat(bench.registry.budget().leftOut()).isOne();
        assertThat(bench.registry.budget().bytes()).isZero();
    }

    @Test
    void whoIsRefusedDiscardsNothing() {
        leftOut("a", "alice", null, LONG);
        Will large = new Will(
                SessionBench.will("w", 60).message().toBuilder().payload(LONG).build(), 60);

        SessionBench.Outcome outcome = connect(alice(), true, large);
        run();

        assertThat(outcome.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(store.removed).isEmpty();
        assertThat(bench.registry.budget().leftOut()).isOne();
    }

    @Test
    void itsWillIsPublishedWhenItIsDiscarded() {
        found(7, "a", "alice", HOUR, StoredSession.CONNECTED, SessionBench.will("w", 60), LONG);
        start();

        SessionBench.Outcome outcome = connect(alice(), true, null);
        run();

        assertThat(outcome.refusal).isNull();
        assertThat(store.removed).containsExactly(7L);
        assertThat(bench.observer.life).containsOnlyOnce("will a");
        assertThat(bench.registry.budget().bytes())
                .isEqualTo(outcome.session.charge().bytes());
    }

    @Test
    void oneThatEndedWithItsConnectionNeedsNoRoom() { // [MQTT-3.1.2-23]
        found(7, "a", "alice", 0, StoredSession.CONNECTED, null, LONG);
        start();

        SessionBench.Outcome outcome = connect(alice(), false, null);
        run();

        assertThat(outcome.refusal).isNull();
        assertThat(outcome.present).isFalse();
        assertThat(store.removed).containsExactly(7L);
    }

    @Test
    void oneWhoseTimeIsOverNeedsNoRoom() {
        found(7, "a", "alice", HOUR, 5_000, null, LONG);
        start();
        store.clockMillis = 5_000;

        SessionBench.Outcome outcome = connect(alice(), false, null);
        run();

        assertThat(outcome.refusal).isNull();
        assertThat(outcome.present).isFalse();
        assertThat(store.removed).containsExactly(7L);
        assertThat(bench.observer.life).containsExactly("expired a", "created a");
    }

    @Test
    void furtherClaimsWaitUntilItIsGone() {
        leftOut("a", "alice", null, LONG);

        SessionBench.Outcome first = connect(alice(), true, null);
        SessionBench.Outcome second = bench.request(alice(), 1, false, HOUR, null, new RecordingSink());
        bench.run();
        assertThat(second.session).isNull();
        run();

        assertThat(first.session).isNotNull();
        assertThat(second.session).isSameAs(first.session);
        assertThat(bench.registry.all()).hasSize(1);
    }

    @Test
    void anotherNodeDiscardsIt() {
        leftOut("a", "alice", null, LONG);
        RecordedReplies replies = new RecordedReplies();

        bench.registry.depart("a", true, "mallory", replies);
        run();
        assertThat(replies.names).containsExactly("refused");
        bench.registry.depart("a", false, "alice", replies);
        run();
        assertThat(replies.names).containsExactly("refused", "busy");
        bench.registry.depart("a", true, "alice", replies);
        run();

        assertThat(replies.names).containsExactly("refused", "busy", "gone");
        assertThat(store.removed).containsExactly(7L);
        assertThat(bench.registry.budget().leftOut()).isZero();
        assertThat(bench.registry.budget().bytes()).isZero();
    }

    @Test
    void oneThatCannotBeUsedKeepsNobodyWaiting() {
        leftOut("a", "alice", null, LONG);
        found(7, "a", "alice", HOUR, StoredSession.NEVER, null, "a/#/b");

        for (int i = 0; i < 2; i++) {
            SessionBench.Outcome outcome = connect(alice(), false, null);
            run();
            assertThat(outcome.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        }
        assertThat(bench.registry.budget().leftOut()).isOne();
    }

    @Test
    void oneOfAnotherClientIsLeftAlone() {
        leftOut("a", "alice", null, LONG);
        found(7, "b", "alice", HOUR, StoredSession.NEVER, null, "t"); // as if both had the same hash

        SessionBench.Outcome outcome = connect(alice(), true, null);
        run();

        assertThat(outcome.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(store.removed).isEmpty();
        assertThat(bench.registry.find("b")).isNull();
    }

    @Test
    void itIsBackWhenItFits() {
        for (int i = 10; i < 16; i++) { // there is room for five
            found(i, "s" + i, "alice", HOUR, StoredSession.NEVER, null, "y".repeat(800));
        }
        start();
        bench.registry.find("s10").terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        run();

        SessionBench.Outcome outcome = connect(SessionBench.client("s15", "alice"), false, null);
        run();

        assertThat(outcome.present).isTrue();
        assertThat(outcome.session.subscriptions().size()).isOne();
        assertThat(bench.registry.budget().leftOut()).isZero();
        bench.pass(Duration.ofSeconds(1));
        assertThat(outcome.session.hasEnded()).isFalse();
    }
}
