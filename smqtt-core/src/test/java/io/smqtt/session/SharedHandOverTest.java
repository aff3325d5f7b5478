// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Messages of a shared subscription never wait with an absent member while another one is there, and none is lost. */
class SharedHandOverTest {

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

        assertThat(second.texts()).containsExactly("x", "y");
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
        assertThat(leaving.queuedCount()).isEqualTo(1);
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

        RecordingSink back = new RecordingSink();
        back.sendMaximum = 1;
        Session returned = bench.open("a", 0, false, 1_000, back);
        for (int i = 0; i < back.sent.size(); i++) {
            returned.onPubAck(back.sent.get(i).packetId(), ReasonCode.SUCCESS);
            bench.run();
        }

        Set<String> expected = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            expected.add(String.valueOf(i));
        }
        assertThat(back.texts()).hasSize(20).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(b.queuedCount()).isZero();
        assertThat(bench.observer.dropped).isEmpty();
        assertThat(bench.budget.bytes()).isZero();
        assertBalance();
    }

    @Test
    void aBacklogThatNobodyCanHoldStaysWithTheAbsentMember() {
        bench = new SessionBench(2, LimitsConfig.builder().maxQueuedMessages(10).build(), SessionConfig.defaults());
        Session absent = member("a", 0, first);
        leave(absent, first);
        for (int i = 0; i < 10; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
        }
        second.writable = false;
        member("b", 1, second);
        bench.run();
        assertThat(bench.observer.dropped).isEmpty();
        assertThat(absent.queuedCount()).isEqualTo(5);

        RecordingSink back = new RecordingSink();
        bench.open("a", 1, false, 1_000, back);
        second.writable = true;
        bench.registry.find("b").start();
        bench.run();

        assertThat(back.texts()).containsExactly("5", "6", "7", "8", "9");
        assertThat(second.texts()).containsExactly("0", "1", "2", "3", "4");
        assertBalance();
    }

    @Test
    void whatAFullMemberGivesBackKeepsItsPlace() {
        bench = new SessionBench(2, LimitsConfig.builder().maxQueuedMessages(4).build(), SessionConfig.defaults());
        first.sendMaximum = 3;
        Session leaving = member("a", 0, first);
        for (int i = 0; i < 7; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
        }
        second.writable = false;
        member("b", 1, second);

        leave(leaving, first); // three in flight and four in the queue

        assertThat(leaving.queuedCount() + bench.registry.find("b").queuedCount())
                .isEqualTo(7);
        assertThat(bench.observer.dropped).isEmpty();
    }

    @Test
    void aFullMemberThatLeavesPassesItsTaskOn() {
        bench = new SessionBench(2, LimitsConfig.builder().maxQueuedMessages(8).build(), SessionConfig.defaults());
        Session absent = member("a", 0, first);
        leave(absent, first);
        for (int i = 0; i < 8; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
        }
        second.writable = false;
        Session full = member("b", 1, second);
        RecordingSink third = new RecordingSink();
        bench.open("c", 0, false, 1_000, third);
        SessionBench.subscribe(bench.registry.find("c"), FILTER, QoS.AT_LEAST_ONCE);
        bench.run();

        leave(full, second);

        assertThat(absent.queuedCount()).isZero();
        assertThat(third.texts()).containsExactlyInAnyOrder("0", "1", "2", "3", "4", "5", "6", "7");
        assertBalance();
    }

    @Test
    void whatASessionLeavesBehindIsQueuedForOtherMembersThoughTheyAreAbsent() {
        Session ending = member("a", 0, first);
        Session staying = member("b", 1, second);
        leave(staying, second);
        leave(ending, first);
        for (int i = 0; i < 4; i++) {
            bench.publish(0, "t", String.valueOf(i), QoS.AT_LEAST_ONCE);
        }
        bench.run();
        assertThat(ending.queuedCount()).isEqualTo(2);

        ending.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        bench.run();

        assertThat(staying.queuedCount()).isEqualTo(4);
        assertThat(bench.observer.dropped).isEmpty();
    }
}
