// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that their publishers have sent again after a crash of their node. */
class RepeatedMessagesTest {

    private final FoundStore store = new FoundStore();
    private final SessionBench bench = new SessionBench(1, LimitsConfig.defaults(), SessionConfig.defaults(), store);
    private final RecordingSink sink = new RecordingSink();

    /** The ticket of a message of another node. */
    private static final class Relayed extends HeldTicket {

        private final List<Boolean> outcomes = new ArrayList<>();

        Relayed() {
            super(1);
        }

        @Override
        protected void released(boolean success) {
            outcomes.add(success);
        }

        @Override
        public boolean mayComeAgain() {
            return true;
        }
    }

    @BeforeEach
    void start() {
        bench.registry.rememberTaken();
        bench.registry.recover();
        commit();
    }

    private void commit() {
        for (int i = 0; i < 10; i++) {
            bench.run();
            store.commit();
        }
        bench.run();
    }

    private Session open(long expirySeconds, String filter) {
        SessionBench.Outcome outcome = bench.request("x", 0, false, expirySeconds, sink);
        commit();
        Session session = outcome.session;
        assertThat(session).isNotNull();
        SessionBench.subscribe(session, filter, QoS.EXACTLY_ONCE);
        commit();
        return session;
    }

    private ApplicationMessage message() {
        return bench.message("t", "once", QoS.EXACTLY_ONCE);
    }

    /** Routes a message; its copies are not committed. */
    private Relayed route(ApplicationMessage message) {
        Relayed ticket = new Relayed();
        bench.router.route(bench.loop(0), message, ticket);
        ticket.release(true);
        bench.run();
        return ticket;
    }

    /** The store fails from now on. */
    private Relayed routeInVain(ApplicationMessage message) {
        store.failing = true;
        Relayed ticket = route(message);
        store.commit();
        bench.run();
        return ticket;
    }

    @Test
    void aRepetitionIsNotTakenAgain() {
        open(3_600, "t");
        ApplicationMessage message = message();
        route(message);
        commit();

        Relayed ticket = route(message.repeated());

        assertThat(ticket.outcomes).containsExactly(true);
        assertThat(store.put).containsExactly("once");
    }

    @Test
    void aRepetitionIsAcceptedWhenTheMessageIsStored() {
        open(3_600, "t");
        ApplicationMessage message = message();
        Relayed first = route(message);

        Relayed second = route(message.repeated());

        assertThat(first.outcomes).isEmpty();
        assertThat(second.outcomes).isEmpty();
        commit();
        assertThat(first.outcomes).containsExactly(true);
        assertThat(second.outcomes).containsExactly(true);
        assertThat(store.put).containsExactly("once");
    }

    @Test
    void aMessageThatCouldNotBeStoredIsTakenAgain() {
        open(3_600, "t").connectionEnded(sink, false, -1);
        commit();
        ApplicationMessage message = message();
        Relayed first = routeInVain(message);
        assertThat(first.outcomes).containsExactly(false);
        store.failing = false;

        route(message.repeated());
        commit();

        assertThat(store.put).containsExactly("once", "once");
    }

    /** The store fails for other messages. */
    @Test
    void aMessageThatWasStoredIsNotTakenAgainAfterAFailure() {
        open(3_600, "t").connectionEnded(sink, false, -1);
        commit();
        ApplicationMessage before = message();
        route(before);
        commit();
        routeInVain(bench.message("t", "lost", QoS.EXACTLY_ONCE));
        store.failing = false;
        ApplicationMessage after = message();
        route(after);
        commit();

        route(before.repeated());
        route(after.repeated());
        commit();

        assertThat(store.put).containsExactly("once", "lost", "once");
    }

    /** Its client was disconnected in place of a reason, and comes back much later. */
    @Test
    void aMessageThatCouldNotBeStoredIsTakenAgainHoweverLate() {
        open(3_600, "t").connectionEnded(sink, false, -1);
        commit();
        ApplicationMessage message = message();
        routeInVain(message);
        store.failing = false;
        store.clockMillis += Duration.ofHours(1).toMillis();

        route(message.repeated());
        commit();

        assertThat(store.put).containsExactly("once", "once");
    }

    /** One that other subscribers of the publisher's own node have not got either: all copies are stored together or not at all. */
    @Test
    void aMessageThatWasNotStoredWithOthersIsTakenAgain() {
        open(3_600, "t");
        ApplicationMessage message = message();
        JointTicket first = new JointTicket();
        bench.router.route(bench.loop(0), message, first);
        bench.run();
        first.failed();
        commit();
        assertThat(store.put).isEmpty();

        route(message.repeated());
        commit();

        assertThat(store.put).containsExactly("once");
    }

    @Test
    void aSessionThatEndsWithItsClientTakesItOnce() {
        open(0, "t");
        ApplicationMessage message = message();
        route(message);

        Relayed ticket = route(message.repeated());

        assertThat(ticket.outcomes).containsExactly(true);
        assertThat(sink.texts()).containsExactly("once");
    }

    @Test
    void aNodeKnowsWhichMessagesTheMembersOfAGroupHave() {
        open(3_600, "$share/g/t");
        SharedFilter group = SharedFilter.of("$share/g/t");
        ApplicationMessage message = message();
        assertThat(bench.registry.hasTaken(message.id(), group)).isFalse();
        route(message);

        assertThat(bench.registry.hasTaken(message.id(), group)).isTrue();
        assertThat(bench.registry.hasTaken(message.id(), SharedFilter.of("$share/h/t")))
                .isFalse();
        assertThat(bench.registry.hasTaken(message().id(), group)).isFalse();
    }

    @Test
    void aNodeKnowsWhichMessagesTheQueueOfAGroupHas() {
        open(3_600, "$share/g/t").connectionEnded(sink, false, -1);
        commit();
        ApplicationMessage message = message();
        route(message);
        commit();

        assertThat(bench.registry.hasTaken(message.id(), SharedFilter.of("$share/g/t")))
                .isTrue();
    }

    /** The queue of the group, or a connected member: neither has it, at once and much later. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNodeDoesNotClaimAMessageOfAGroupThatCouldNotBeStored(boolean waits) {
        SharedFilter group = SharedFilter.of("$share/g/t");
        Session member = open(3_600, "$share/g/t");
        if (waits) {
            member.connectionEnded(sink, false, -1);
            commit();
        }
        ApplicationMessage message = message();
        routeInVain(message);
        assertThat(bench.registry.hasTaken(message.id(), group)).isFalse();

        store.failing = false;
        store.clockMillis += Duration.ofHours(1).toMillis();

        assertThat(bench.registry.hasTaken(message.id(), group)).isFalse();
        ApplicationMessage next = message();
        route(next);
        commit();
        assertThat(bench.registry.hasTaken(next.id(), group)).isTrue();
    }

    /** A member had it without a note: it was not sent by another node. */
    @Test
    void aNodeDoesNotClaimWhatAMemberCouldNotStore() {
        SharedFilter group = SharedFilter.of("$share/g/t");
        open(3_600, "$share/g/t");
        ApplicationMessage message = message();
        store.failing = true;
        bench.router.route(bench.loop(0), message, RouteTicket.NONE);
        bench.run();
        assertThat(bench.registry.hasTaken(message.id(), group)).isTrue();
        store.commit();
        bench.run();

        assertThat(bench.registry.hasTaken(message.id(), group)).isFalse();
    }

    /** A group that may have the message is not given it before that is known. */
    @Test
    void theRouterAsksForTheMemberOfAMessageThatIsSentAgain() {
        open(3_600, "$share/g/t");
        List<Consumer<Boolean>> asked = new ArrayList<>();
        bench.router.earlierDeliveries((message, group, taken) -> asked.add(taken));
        route(message());
        assertThat(asked).isEmpty();
        assertThat(store.put).containsExactly("once");

        Relayed had = route(message().repeated());
        Relayed fresh = route(message().repeated());
        assertThat(asked).hasSize(2);
        assertThat(had.outcomes).isEmpty();
        asked.get(0).accept(true);
        commit();
        assertThat(had.outcomes).containsExactly(true);
        assertThat(store.put).containsExactly("once");
        asked.get(1).accept(false);
        commit();

        assertThat(fresh.outcomes).containsExactly(true);
        assertThat(store.put).containsExactly("once", "once");
    }

    /** A member on a node that has failed may have got it. */
    @Test
    void theRouterAsksForTheMemberOfAMessageThatMayHaveCome() {
        SharedFilter group = SharedFilter.of("$share/g/t");
        open(3_600, "$share/g/t");
        List<Consumer<Boolean>> asked = new ArrayList<>();
        bench.router.earlierDeliveries((message, name, taken) -> asked.add(taken));

        Relayed had = giveAgain(message(), group);
        Relayed fresh = giveAgain(message(), group);
        assertThat(asked).hasSize(2);
        assertThat(had.outcomes).isEmpty();
        asked.get(0).accept(true);
        commit();
        assertThat(had.outcomes).containsExactly(true);
        assertThat(store.put).isEmpty();
        asked.get(1).accept(false);
        commit();

        assertThat(fresh.outcomes).containsExactly(true);
        assertThat(store.put).containsExactly("once");
    }

    private Relayed giveAgain(ApplicationMessage message, SharedFilter group) {
        Relayed ticket = new Relayed();
        bench.router.redispatchIfNew(bench.loop(0), message.repeated(), group, ticket);
        ticket.release(true);
        bench.run();
        return ticket;
    }

    @Test
    void aMessageOfAGroupCanComeBackToAMember() {
        open(3_600, "$share/g/t");
        ApplicationMessage message = message().repeated();
        route(message);
        commit();

        route(message);
        commit();

        assertThat(store.put).containsExactly("once", "once");
    }
}
