// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What no member of a shared group can take waits in the group, goes to whoever has room, and none is lost. */
class GroupQueueTest {

    private static final String FILTER = "$share/g/t";

    private SessionBench bench = new SessionBench(2);
    private final RecordingSink first = new RecordingSink();
    private final RecordingSink second = new RecordingSink();

    private Session member(String id, int loop, RecordingSink sink) {
        Session session = bench.open(id, loop, false, 1_000, sink);
        SessionBench.subscribe(session, FILTER, QoS.AT_LEAST_ONCE);
        bench.run();
        return session;
    }

    private void leave(Session session, RecordingSink sink) {
        session.connectionEnded(sink, false, -1);
        bench.run();
    }

    private void assertBalance() {
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    private long waiting() {
        return bench.registry.queuedForGroups();
    }

    @Test
    void whatAnAbsentMemberDidNotAcknowledgeGoesToTheOneThatComes() {
        Session absent = member("a", 0, first);
        bench.publish(0, "t", "x", QoS.AT_LEAST_ONCE);
        leave(absent, first);
        assertThat(absent.inFlightCount()).isEqualTo(1);

        member("b", 1, second);

        assertThat(second.texts()).containsExactly("x");
        assertThat(absent.inFlightCount()).isZero();
        assertBalance();
    }

    @Test
    void whatIsOnItsWayToAMemberThatLeavesGoesToAnother() {
        Session leaving = member("a", 0, first);
        bench.publish(1, "t", "x", QoS.AT_LEAST_ONCE); // chosen: the only one, but still on its way
        bench.publish(1, "t", "y", QoS.AT_MOST_ONCE);
        bench.request("b", 1, false, 1_000, second);
        SessionBench.subscribe(bench.registry.find("b"), FILTER, QoS.AT_LEAST_ONCE);

        leave(leaving, first);

        assertThat(second.texts()).containsExactlyInAnyOrder("x", "y");
        assertThat(leaving.queuedCount()).isZero();
        assertBalance();
    }

    @Test
    void whatWasHandedToAMemberThatEndsComesBack() {
        Session leaving = member("a", 0, first);
        bench.publish(0, "t", "x", QoS.AT_LEAST_ONCE);
        Session other = member("b", 0, second);
        leaving.connectionEnded(first, false, -1); // offered to the other one
        other.terminate(ReasonCode.ADMINISTRATIVE_ACTION);

        bench.run();

        assertThat(bench.observer.dropped).isEmpty();
        assertThat(waiting()).isEqualTo(1);
    }

    @Test
    void aBacklogThatOneMemberCannotHoldWaitsUntilItCan() {
        bench = new SessionBench(2, LimitsConfig.builder().maxQueuedMessages(10).build(), SessionConfig.defaults());
        Session a = member("a", 0, first);
        Session b = member("b", 1, second);
        leave(a, first);
        leave(b, second);
        for (int i = 0; i < 20; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
            bench.run();
        }
        assertThat(bench.observer.dropped).isEmpty();
        assertThat(waiting()).isEqualTo(20);

        RecordingSink back = new RecordingSink();
        back.sendMaximum = 1;
        Session returned = bench.open("a", 0, false, 1_000, back);
        bench.run();
        for (int i = 0; i < back.sent.size(); i++) {
            bench.run();
            returned.onPubAck(back.sent.get(i).packetId(), ReasonCode.SUCCESS);
            bench.run();
        }

        Set<String> expected = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            expected.add(String.valueOf(i));
        }
        assertThat(back.texts()).hasSize(20).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(waiting()).isZero();
        assertThat(bench.observer.dropped).isEmpty();
        assertThat(bench.budget.bytes()).isZero();
        assertBalance();
    }

    @Test
    void aBacklogThatNobodyCanTakeWaitsForTheFirstThatCan() {
        bench = new SessionBench(2, LimitsConfig.builder().maxQueuedMessages(10).build(), SessionConfig.defaults());
        Session absent = member("a", 0, first);
        leave(absent, first);
        for (int i = 0; i < 10; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
        }
        second.writable = false;
        member("b", 1, second);
        assertThat(bench.observer.dropped).isEmpty();
        assertThat(waiting()).isEqualTo(10);

        RecordingSink back = new RecordingSink();
        back.sendMaximum = 3;
        bench.open("a", 1, false, 1_000, back);
        bench.run();
        second.writable = true;
        bench.registry.find("b").start();
        bench.run();

        assertThat(back.texts()).containsExactly("0", "1", "2");
        assertThat(second.texts()).containsExactly("3", "4", "5", "6", "7", "8", "9");
        assertBalance();
    }

    @Test
    void whatAFullMemberHasGoesToTheNextWhenItLeaves() {
        bench = new SessionBench(2, LimitsConfig.builder().maxQueuedMessages(4).build(), SessionConfig.defaults());
        first.sendMaximum = 3;
        Session leaving = member("a", 0, first);
        second.writable = false;
        member("b", 1, second);
        second.writable = true;
        bench.registry.find("b").terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        for (int i = 0; i < 8; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
            bench.run();
        }
        assertThat(leaving.queuedCount()).isEqualTo(2); // three in flight
        assertThat(waiting()).isEqualTo(3);
        leave(leaving, first);
        assertThat(leaving.queuedCount()).isZero();
        assertThat(waiting()).isEqualTo(5);

        member("c", 1, second);

        assertThat(second.texts()).containsExactlyInAnyOrder("0", "1", "2", "3", "4", "5", "6", "7");
        assertThat(bench.observer.dropped).isEmpty();
        assertBalance();
    }

    @Test
    void aMessageThatOneMemberHasNoRoomForGoesToAnotherAtOnce() {
        bench = new SessionBench(3, LimitsConfig.builder().maxQueuedMessages(1).build(), SessionConfig.defaults());
        first.sendMaximum = 1;
        second.sendMaximum = 1;
        member("a", 0, first);
        member("b", 1, second);
        RecordingSink third = new RecordingSink();
        member("c", 2, third);
        for (int i = 0; i < 9; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
            bench.run();
        }

        assertThat(first.texts()).hasSize(1);
        assertThat(second.texts()).hasSize(1);
        assertThat(bench.registry.find("a").queuedCount()).isEqualTo(1); // half of its own queue, rounded up
        assertThat(bench.registry.find("b").queuedCount()).isEqualTo(1);
        assertThat(third.texts()).hasSize(5);
        assertThat(waiting()).isZero();
    }

    @Test
    void aQueueHoldsWhatItsMembersMightAndDropsTheRest() {
        bench = new SessionBench(2, LimitsConfig.builder().maxQueuedMessages(3).build(), SessionConfig.defaults());
        Session a = member("a", 0, first);
        Session b = member("b", 1, second);
        leave(a, first);
        leave(b, second);
        for (int i = 0; i < 9; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
        }
        bench.run();
        assertThat(waiting()).isEqualTo(6);
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.QUEUE_COUNT, 3));

        a.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        b.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        bench.run();
        assertThat(waiting()).isZero();
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.QUEUE_COUNT, 3, DropReason.NO_SHARED_MEMBER, 6));
        assertThat(bench.budget.bytes()).isZero();
        assertBalance();
    }

    @Test
    void whatHasExpiredLeavesTheQueue() {
        Session absent = member("a", 0, first);
        leave(absent, first);
        for (int i = 0; i < 3; i++) {
            ApplicationMessage message = ApplicationMessage.builder("t")
                    .qos(QoS.AT_LEAST_ONCE)
                    .expiryInterval(Duration.ofSeconds(10L * (i + 1)))
                    .build()
                    .accepted(bench.ids.next(), bench.nanos, "p");
            bench.router.route(bench.loop(0), message, RouteTicket.NONE);
        }
        bench.run();
        assertThat(waiting()).isEqualTo(3);
        bench.pass(Duration.ofSeconds(12));
        bench.run();
        assertThat(waiting()).isEqualTo(2);
        bench.pass(Duration.ofSeconds(20));
        bench.run();
        assertThat(waiting()).isZero();
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.EXPIRED, 3));
        assertBalance();
    }

    // --- other nodes

    private static final SharedFilter GROUP = SharedFilter.of(FILTER);

    /** Records what the broker reports to other nodes. */
    private static final class Reports implements GroupWatch {

        private final List<SharedFilter> wanted = new ArrayList<>();
        private final List<SharedFilter> held = new ArrayList<>();

        @Override
        public void wanted(SharedFilter group) {
            wanted.add(group);
        }

        @Override
        public void held(SharedFilter group, boolean elsewhere) {
            held.add(group);
        }
    }

    /** Messages wait on a node that has no members itself, such as that of their publisher. */
    @Test
    void aMemberThatReturnsAsksForWhatIsKnownToWaitElsewhere() {
        Reports reports = new Reports();
        bench.registry.watchGroups(reports);
        leave(member("a", 0, first), first);
        assertThat(bench.registry.canTakeMore(GROUP)).isFalse();
        assertThat(reports.wanted).isEmpty();

        bench.open("a", 0, false, 1_000, first);
        bench.run();

        assertThat(reports.wanted).containsExactly(GROUP);
        leave(bench.registry.find("a"), first);
        bench.open("a", 0, false, 1_000, first);
        bench.run();
        assertThat(reports.wanted).as("nothing is known to wait any more").hasSize(1);
    }

    @Test
    void aGroupThatWaitsIsReportedAgainWhenAMemberJoinsElsewhere() {
        Reports reports = new Reports();
        bench.registry.watchGroups(reports);
        leave(member("a", 0, first), first);
        bench.registry.joinedElsewhere(GROUP);
        assertThat(reports.held).isEmpty();
        bench.publish(0, "t", "x", QoS.AT_LEAST_ONCE);
        bench.run();
        reports.held.clear();

        bench.registry.joinedElsewhere(GROUP);

        assertThat(reports.held).containsExactly(GROUP);
    }

    /** Another node that asks before gets nothing, and does not ask again. */
    @Test
    void aMessageIsReportedWhenItIsStored() {
        FoundStore store = new FoundStore();
        bench = new SessionBench(2, LimitsConfig.defaults(), SessionConfig.defaults(), store);
        Reports reports = new Reports();
        bench.registry.recover();
        bench.registry.watchGroups(reports);
        bench.request("a", 0, false, 1_000, first);
        commit(store);
        SessionBench.subscribe(bench.registry.find("a"), FILTER, QoS.EXACTLY_ONCE);
        commit(store);
        bench.registry.find("a").connectionEnded(first, false, -1);
        commit(store);
        JointTicket ticket = new JointTicket();
        bench.router.route(bench.loop(0), bench.message("t", "x", QoS.EXACTLY_ONCE), ticket);
        commit(store);
        assertThat(waiting()).isEqualTo(1);
        reports.held.clear();

        ticket.committed();
        bench.run();

        assertThat(reports.held).containsExactly(GROUP);
    }

    @Test
    void whatWaitsFromBeforeTheStartIsReported() {
        FoundStore store = new FoundStore();
        store.sessions.put(
                7L,
                new FoundSession(
                        new StoredSession(
                                7,
                                GroupRecord.id(GROUP),
                                null,
                                Stores.ENDLESS_SECONDS,
                                StoredSession.NEVER,
                                null,
                                StoredSession.CONNECTED),
                        new StoredQueue(GroupRecord.FIRST_WAITING, GroupRecord.FIRST_WAITING + 1, 1, 100),
                        List.of(),
                        List.of()));
        bench = new SessionBench(2, LimitsConfig.defaults(), SessionConfig.defaults(), store);
        bench.registry.recover();
        Reports reports = new Reports();

        bench.registry.watchGroups(reports);

        assertThat(reports.held).containsExactly(GROUP);
    }

    private void commit(FoundStore store) {
        for (int i = 0; i < 10; i++) {
            bench.run();
            store.commit();
        }
        bench.run();
    }

    @Test
    void whatWaitsStaysWhenOneOfTwoAbsentMembersEnds() {
        Session ending = member("a", 0, first);
        Session staying = member("b", 1, second);
        leave(staying, second);
        leave(ending, first);
        for (int i = 0; i < 4; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
        }
        bench.run();
        assertThat(waiting()).isEqualTo(4);

        ending.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        bench.run();

        assertThat(waiting()).isEqualTo(4);
        assertThat(bench.observer.dropped).isEmpty();
    }
}
