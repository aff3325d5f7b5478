// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

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
                    .isEqualTo(session.heapBytes())
                    .isBetween(6_000L, 7_000L);
            session.unsubscribe(TopicFilter.of("a/b"), "g");
            RecordingSink second = new RecordingSink();
            connect(bench, "a", "u", large(100, 60), second); // another will
            assertThat(session.sink()).isSameAs(second);
            assertThat(session.heapBytes()).isLessThan(2_000);
            session.connectionEnded(second, true, -1);
            bench.pass(Duration.ofSeconds(61)); // the will is published
            int withoutWill = session.heapBytes();
            assertThat(withoutWill).isLessThan(1_500);
            bench.pass(Duration.ofSeconds(HOUR));
            assertThat(session.hasEnded()).isTrue();
            assertThat(bench.registry.budget().bytes()).isZero();
        }
    }

    @Test
    void aWillThatDoesNotFitIsRefusedAndTheSessionStaysAsItWas() {
        SessionBench bench = bench(10_000, 1 << 20, 1 << 20);
        RecordingSink first = new RecordingSink();
        Session session = connect(bench, "a", null, large(100, 60), first).session;
        int before = session.heapBytes();

        SessionBench.Outcome refused = connect(bench, "a", null, large(20_000, 60), new RecordingSink());

        assertThat(refused.refusal).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(session.sink()).isSameAs(first);
        assertThat(session.heapBytes()).isEqualTo(before);
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
        assertThat(bench.registry.budget().bytes()).isEqualTo(session.heapBytes());
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
        assertThat(consumer.session.hasRoomFor(TopicFilter.of("orders/#"), null))
                .isTrue();
        assertThat(consumer.session.hasRoomFor(TopicFilter.of("o".repeat(9_900)), null))
                .isFalse();
    }

    @Test
    void filtersThatDoNotFitAreRefusedOneByOne() {
        SessionBench bench = bench(10_000, 1 << 20, 1 << 20);
        Session session = bench.open("a", 0, false, HOUR, new RecordingSink());
        String filter = "x".repeat(3_000);
        assertThat(session.hasRoomFor(TopicFilter.of(filter), null)).isTrue();
        SessionBench.subscribe(session, filter, QoS.AT_LEAST_ONCE);
        SessionBench.subscribe(session, filter + '2', QoS.AT_LEAST_ONCE);
        assertThat(session.hasRoomFor(TopicFilter.of(filter + '3'), null)).isFalse();
        assertThat(session.hasRoomFor(TopicFilter.of("short"), null)).isTrue();
        assertThat(session.hasRoomFor(TopicFilter.of("a"), "g".repeat(3_000))).isFalse();
        session.unsubscribe(TopicFilter.of(filter), null);
        assertThat(session.hasRoomFor(TopicFilter.of(filter + '3'), null)).isTrue();
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
