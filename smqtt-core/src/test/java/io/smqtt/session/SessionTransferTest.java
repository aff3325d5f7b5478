// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.SessionTransfer.Step;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of the steps of a transfer, and what each call does in each of them, for all directions. */
class SessionTransferTest {

    private final SessionBench bench = new SessionBench(
            2, LimitsConfig.defaults(), SessionConfig.builder().queueQos0(true).build());
    private final RecordingSink first = new RecordingSink();
    private final RecordedReplies replies = new RecordedReplies();

    // --- the table

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    PREPARING   | COPYING CATCHING_UP CANCELLED
                    COPYING     | CATCHING_UP CANCELLED
                    CATCHING_UP | COMPLETED CANCELLED
                    COMPLETED   | ''
                    CANCELLED   | ''
                    """)
    void aStepHasTheseFollowersAndNoOthers(Step from, String followers) {
        Set<Step> allowed = Arrays.stream(followers.split(" "))
                .filter(name -> !name.isEmpty())
                .map(Step::valueOf)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Step.class)));

        assertThat(from.followers()).isEqualTo(allowed);
        for (Step next : Step.values()) {
            SessionTransfer transfer = in(from);
            if (allowed.contains(next)) {
                transfer.become(next);
                assertThat(transfer.step()).isEqualTo(next);
            } else {
                assertThatThrownBy(() -> transfer.become(next))
                        .as("%s to %s", from, next)
                        .isInstanceOf(IllegalStateException.class);
                assertThat(transfer.step()).isEqualTo(from);
            }
        }
    }

    private static SessionTransfer in(Step step) {
        SessionTransfer transfer = new SessionTransfer("c") {};
        switch (step) {
            case PREPARING -> {}
            case COPYING, CATCHING_UP, CANCELLED -> transfer.become(step);
            case COMPLETED -> {
                transfer.become(Step.CATCHING_UP);
                transfer.become(step);
            }
        }
        return transfer;
    }

    @Test
    void theDiagramIsTheTable() throws IOException {
        Set<String> table = Stream.of(Step.values())
                .flatMap(step -> step.followers().stream().map(next -> step + " " + next))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(StateDiagram.transitions("The transfer of a session")).isEqualTo(table);
    }

    // --- to another event loop

    @Test
    void aSessionThatChangesEventLoopsCatchesUp() {
        Session session = session();
        LoopTransfer transfer = new LoopTransfer(session, bench.router);
        bench.publish(1, "t", "in transit", QoS.AT_LEAST_ONCE);
        List<RoutingLoop> arrived = new ArrayList<>();

        transfer.begin(bench.loop(1), () -> arrived.add(Objects.requireNonNull(session.owner())));
        bench.publish(1, "t", "held", QoS.AT_LEAST_ONCE);
        Step early = transfer.step();
        bench.run();

        assertThat(early).isEqualTo(Step.CATCHING_UP);
        assertThat(transfer.step()).isEqualTo(Step.COMPLETED);
        assertThat(arrived).containsExactly(bench.loop(1));
        assertThat(session.life().phase()).isEqualTo(SessionPhase.ABSENT);
        assertThatThrownBy(() -> transfer.begin(bench.loop(0), () -> {})).isInstanceOf(IllegalStateException.class);
        assertThat(session.owner()).isSameAs(bench.loop(1));
        assertThat(waiting(session)).containsExactly("in transit", "held");
    }

    // --- to another node

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    COPYING     | NEXT  | COPYING     | DEPARTING | 1
                    COPYING     | LATE  | CATCHING_UP | DEPARTING | 1
                    COPYING     | TAKEN | refused     | DEPARTING | 1
                    COPYING     | LEAVE | refused     | DEPARTING | 1
                    COPYING     | STAY  | CANCELLED   | ABSENT    | 2
                    CATCHING_UP | NEXT  | refused     | DEPARTING | 1
                    CATCHING_UP | LATE  | CATCHING_UP | DEPARTING | 1
                    CATCHING_UP | TAKEN | CATCHING_UP | DEPARTING | 1
                    CATCHING_UP | LEAVE | COMPLETED   | ENDED     | 0
                    CATCHING_UP | STAY  | CANCELLED   | ABSENT    | 2
                    COMPLETED   | NEXT  | refused     | ENDED     | 0
                    COMPLETED   | LATE  | refused     | ENDED     | 0
                    COMPLETED   | TAKEN | refused     | ENDED     | 0
                    COMPLETED   | LEAVE | refused     | ENDED     | 0
                    COMPLETED   | STAY  | refused     | ENDED     | 0
                    CANCELLED   | NEXT  | refused     | ABSENT    | 2
                    CANCELLED   | LATE  | refused     | ABSENT    | 2
                    CANCELLED   | TAKEN | refused     | ABSENT    | 2
                    CANCELLED   | LEAVE | refused     | ABSENT    | 2
                    CANCELLED   | STAY  | refused     | ABSENT    | 2
                    """)
    void eachCallOfADepartureHasItsOutcomeInEachStep(
            Step step, String call, String outcome, SessionPhase phase, int waiting) {
        Session session = session();
        bench.publish(0, "t", "before", QoS.AT_LEAST_ONCE);
        bench.run();
        OutgoingTransfer transfer = departure(session);
        bench.publish(0, "t", "held", QoS.AT_LEAST_ONCE);
        bench.run();
        switch (step) {
            case PREPARING, COPYING -> {}
            case CATCHING_UP -> call(transfer, "LATE");
            case COMPLETED -> {
                call(transfer, "LATE");
                call(transfer, "LEAVE");
            }
            case CANCELLED -> call(transfer, "STAY");
        }
        assertThat(transfer.step()).isEqualTo(step);

        String happened = call(transfer, call);

        assertThat(happened).isEqualTo(outcome);
        assertThat(transfer.step()).isEqualTo(outcome.equals("refused") ? step : Step.valueOf(outcome));
        assertThat(session.life().phase()).isEqualTo(phase);
        assertThat(session.queuedCount()).isEqualTo(waiting);
    }

    @Test
    void aSessionStaysWhileAMessageOfItsClientIsNotAccepted() { // the other node would answer its repetition
        Session session = session();
        session.inbound().receivedUnsettled(1, RouteTicket.NONE);

        OutgoingTransfer transfer = begin(session);
        for (int i = 0; i < 1_000; i++) {
            assertThat(transfer.step()).isIn(Step.PREPARING, Step.CANCELLED);
            bench.executors.get(0).timePasses();
            bench.run();
        }

        assertThat(replies.names).containsExactly("busy");
        assertThat(transfer.step()).isEqualTo(Step.CANCELLED);
        assertThat(session.life().phase()).isEqualTo(SessionPhase.ABSENT);
        session.inbound().settled(1, RouteTicket.NONE, true);
        begin(session);
        assertThat(replies.names).containsExactly("busy", "departing");
    }

    private OutgoingTransfer departure(Session session) {
        OutgoingTransfer transfer = begin(session);
        assertThat(replies.names).containsExactly("departing");
        return transfer;
    }

    private OutgoingTransfer begin(Session session) {
        OutgoingTransfer transfer = new OutgoingTransfer(session, bench.resources);
        assertThat(transfer.step()).isEqualTo(Step.PREPARING);
        transfer.begin(replies);
        bench.run();
        return transfer;
    }

    private String call(OutgoingTransfer transfer, String name) {
        return outcome(transfer, () -> {
            switch (name) {
                case "NEXT" -> transfer.next(page -> {});
                case "LATE" -> transfer.late(messages -> {});
                case "TAKEN" -> transfer.taken();
                case "LEAVE" -> transfer.leave(() -> {});
                case "STAY" -> transfer.stay();
                default -> throw new AssertionError(name);
            }
        });
    }

    // --- from another node

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    PREPARING   | ADD     | COPYING
                    PREPARING   | INSTALL | CATCHING_UP
                    PREPARING   | LATE    | refused
                    PREPARING   | FINISH  | refused
                    PREPARING   | DISCARD | CANCELLED
                    COPYING     | ADD     | COPYING
                    COPYING     | INSTALL | CATCHING_UP
                    COPYING     | LATE    | refused
                    COPYING     | FINISH  | refused
                    COPYING     | DISCARD | CANCELLED
                    CATCHING_UP | ADD     | refused
                    CATCHING_UP | INSTALL | refused
                    CATCHING_UP | LATE    | CATCHING_UP
                    CATCHING_UP | FINISH  | COMPLETED
                    COMPLETED   | ADD     | refused
                    COMPLETED   | INSTALL | refused
                    COMPLETED   | LATE    | COMPLETED
                    COMPLETED   | FINISH  | refused
                    COMPLETED   | DISCARD | refused
                    CANCELLED   | ADD     | refused
                    CANCELLED   | INSTALL | refused
                    CANCELLED   | LATE    | refused
                    CANCELLED   | FINISH  | refused
                    CANCELLED   | DISCARD | refused
                    """)
    void eachCallOfAnArrivalHasItsOutcomeInEachStep(Step step, String call, String outcome) {
        for (IncomingTransfer transfer : List.of(replacing(), merging())) {
            reach(transfer, step);

            String happened = call(transfer, call);

            assertThat(happened).as(transfer.getClass().getSimpleName()).isEqualTo(outcome);
            assertThat(transfer.step()).isEqualTo(outcome.equals("refused") ? step : Step.valueOf(outcome));
        }
    }

    @Test
    void onlyAMergedSessionCanBeDiscardedAfterItWasInstalled() { // its commit may fail
        IncomingTransfer replacing = replacing();
        IncomingTransfer merging = merging();
        reach(replacing, Step.CATCHING_UP);
        reach(merging, Step.CATCHING_UP);

        assertThat(call(replacing, "DISCARD")).isEqualTo("refused");
        assertThat(call(merging, "DISCARD")).isEqualTo("CANCELLED");
    }

    @Test
    void aDiscardedArrivalLeavesTheSessionHereAsItWas() {
        Session here = session();
        IncomingTransfer transfer = (IncomingTransfer) bench.registry.merge(state("c"));
        reach(transfer, Step.COPYING);
        bench.publish(0, "t", "held", QoS.AT_LEAST_ONCE);
        bench.run();
        assertThat(waiting(here)).containsExactly("added");

        call(transfer, "DISCARD");
        bench.publish(0, "t", "after", QoS.AT_LEAST_ONCE);
        bench.run();

        assertThat(bench.registry.find("c")).isSameAs(here);
        assertThat(waiting(here)).containsExactly("added", "held", "after");
    }

    @Test
    void aMessageThatTheClientHasReceivedDoesNotComeOnceMoreWithItsSession() {
        Session here = session();
        IncomingTransfer transfer = (IncomingTransfer) bench.registry.merge(state("c"));
        ApplicationMessage message = bench.message("t", "received", QoS.EXACTLY_ONCE);
        StoredMessage received = stored(1, message, new StoredDelivery(StoredDelivery.State.RECEIVED, 7));
        StoredMessage repeated = stored(2, message, StoredDelivery.WAITING);

        transfer.add(List.of(received, repeated), kept -> {});
        bench.run();
        call(transfer, "INSTALL");
        call(transfer, "FINISH");

        assertThat(waiting(here)).isEmpty();
    }

    private void reach(IncomingTransfer transfer, Step step) {
        switch (step) {
            case PREPARING -> {}
            case COPYING -> call(transfer, "ADD");
            case CATCHING_UP -> call(transfer, "INSTALL");
            case COMPLETED -> {
                call(transfer, "INSTALL");
                call(transfer, "FINISH");
            }
            case CANCELLED -> call(transfer, "DISCARD");
        }
        assertThat(transfer.step()).isEqualTo(step);
    }

    private IncomingTransfer replacing() {
        return (IncomingTransfer) bench.registry.arrive(state("new"));
    }

    private IncomingTransfer merging() {
        if (bench.registry.find("c") == null) {
            session();
        }
        return (IncomingTransfer) bench.registry.merge(state("c"));
    }

    private static SessionState state(String clientId) {
        return new SessionState(clientId, null, 60, 0, 0, List.of(), List.of());
    }

    private String call(IncomingTransfer transfer, String name) {
        return outcome(transfer, () -> {
            switch (name) {
                case "ADD" -> transfer.add(List.of(message("added")), kept -> {});
                case "INSTALL" -> transfer.install(kept -> {});
                case "LATE" -> transfer.late(List.of(message("late")), kept -> {});
                case "FINISH" -> transfer.finish(() -> {});
                case "DISCARD" -> transfer.discard();
                default -> throw new AssertionError(name);
            }
        });
    }

    private StoredMessage message(String text) {
        return stored(1, bench.message("t", text, QoS.AT_LEAST_ONCE), StoredDelivery.WAITING);
    }

    private static StoredMessage stored(long sequence, ApplicationMessage message, StoredDelivery delivery) {
        return new StoredMessage(sequence, message, "t", message.qos(), false, new int[0], delivery);
    }

    // ---

    /** An absent session of client c on loop 0, subscribed to t. */
    private Session session() {
        Session session = bench.open("c", 0, false, 60, first);
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        session.connectionEnded(first, false, -1);
        bench.run();
        return session;
    }

    /** The texts of the messages that a client receives when it connects. */
    private List<String> waiting(Session session) {
        RecordingSink sink = new RecordingSink();
        assertThat(bench.open("c", 0, false, 60, sink)).isSameAs(session);
        session.execute(session::start);
        bench.run();
        session.execute(() -> session.connectionEnded(sink, false, -1));
        bench.run();
        return sink.texts();
    }

    /** The step after a call, or "refused" if it failed. */
    private String outcome(SessionTransfer transfer, Runnable call) {
        try {
            call.run();
            bench.run();
        } catch (IllegalStateException e) {
            return "refused";
        }
        return transfer.step().toString();
    }
}
