// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.topic.TopicFilter;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of a session's phases, and what each event does in each of them. */
class SessionPhaseTest {

    private static final int ROUNDS = 6;

    private final FoundStore store = new FoundStore();
    private final SessionBench bench = new SessionBench(
            2, LimitsConfig.defaults(), SessionConfig.builder().queueQos0(true).build(), store);
    private final RecordingSink first = new RecordingSink();
    private final RecordingSink second = new RecordingSink();
    private final RecordingSink newcomer = new RecordingSink();
    private final RecordedReplies replies = new RecordedReplies();

    // --- the table

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    OPENING   | CONNECTED ENDED
                    CONNECTED | ABSENT RESUMING
                    ABSENT    | CONNECTED RESUMING MOVING DEPARTING ENDED
                    RESUMING  | CONNECTED ABSENT MOVING ENDED
                    MOVING    | CONNECTED ABSENT ENDED
                    DEPARTING | ABSENT ENDED
                    ENDED     | ''
                    """)
    void aPhaseHasTheseFollowersAndNoOthers(SessionPhase from, String followers) {
        Set<SessionPhase> allowed = Arrays.stream(followers.split(" "))
                .filter(name -> !name.isEmpty())
                .map(SessionPhase::valueOf)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(SessionPhase.class)));

        assertThat(from.followers()).isEqualTo(allowed);
        for (SessionPhase next : EnumSet.complementOf(EnumSet.copyOf(withFirst(allowed)))) {
            assertRefused(from, next);
        }
        assertRefused(from, from);
    }

    /** An EnumSet cannot be copied from an empty collection; ENDED never follows itself. */
    private static Set<SessionPhase> withFirst(Set<SessionPhase> phases) {
        return phases.isEmpty() ? EnumSet.of(SessionPhase.ENDED) : phases;
    }

    private void assertRefused(SessionPhase from, SessionPhase next) {
        Session session = new SessionPhaseTest().in(from);
        assertThatThrownBy(() -> session.life().become(next))
                .as("%s to %s", from, next)
                .isInstanceOf(IllegalStateException.class);
        assertThat(session.life().phase()).isEqualTo(from);
    }

    @ParameterizedTest
    @EnumSource
    void aConnectionIsThereWhereItMayBe(SessionPhase phase) {
        Session session = in(phase);

        assertThat(session.life().phase()).isEqualTo(phase);
        assertThat(phase.allows(session.isOnline())).isTrue();
        assertThat(session.hasEnded()).isEqualTo(phase == SessionPhase.ENDED);
    }

    @Test
    void theDiagramIsTheTable() throws IOException {
        Set<String> drawn = StateDiagram.transitions("The phases of a session");
        Set<String> table = Stream.of(SessionPhase.values())
                .flatMap(phase -> phase.followers().stream().map(next -> phase + " " + next))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(drawn).isEqualTo(table);
    }

    // --- events

    /** What may happen to a session. */
    enum Event {
        CLAIM,
        CLAIM_FROM_ANOTHER_LOOP,
        CLEAN_CLAIM,
        DEPARTURE,
        ARRIVAL,
        CONNECTION_ENDED,
        EXPIRY,
        TERMINATION,
        DELIVERY
    }

    private Session in(SessionPhase phase) {
        bench.registry.recover();
        bench.request("c", 0, false, 60, first);
        bench.run();
        Session session = bench.registry.find("c");
        if (phase != SessionPhase.OPENING) {
            settle();
        }
        switch (phase) {
            case OPENING, CONNECTED -> {}
            case ABSENT -> {
                session.connectionEnded(first, false, -1);
                settle();
            }
            case RESUMING -> {
                bench.request("c", 0, false, 60, second);
                bench.run();
            }
            case MOVING -> {
                bench.request("c", 1, false, 60, second);
                bench.run();
                store.commit();
                bench.executors.get(0).runTasks();
                bench.executors.get(1).runTasks(1); // it has its connection
            }
            case DEPARTING -> depart();
            case ENDED -> {
                session.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
                settle();
            }
        }
        return session;
    }

    private void settle() {
        for (int i = 0; i < ROUNDS; i++) {
            bench.run();
            store.commit();
        }
        bench.run();
    }

    private void depart() {
        bench.registry.depart("c", false, null, replies);
        Session session = bench.registry.find("c");
        if (session != null) {
            runLoopOf(session);
        }
    }

    private void runLoopOf(Session session) {
        bench.executors.get(session.owner().index()).runTasks();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    OPENING   | CLAIM                   | OPENING   | CONNECTED | has the session
                    OPENING   | CLAIM_FROM_ANOTHER_LOOP | OPENING   | CONNECTED | has the session
                    OPENING   | CLEAN_CLAIM             | OPENING   | ENDED     | has a new session
                    OPENING   | DEPARTURE               | OPENING   | ABSENT    | waits
                    OPENING   | ARRIVAL                 | OPENING   | CONNECTED | held, then sent
                    OPENING   | CONNECTION_ENDED        | OPENING   | CONNECTED | -
                    OPENING   | EXPIRY                  | OPENING   | CONNECTED | -
                    OPENING   | TERMINATION             | ENDED     | ENDED     | -
                    OPENING   | DELIVERY                | OPENING   | CONNECTED | queued, then sent
                    CONNECTED | CLAIM                   | RESUMING  | CONNECTED | has the session
                    CONNECTED | CLAIM_FROM_ANOTHER_LOOP | RESUMING  | CONNECTED | has the session
                    CONNECTED | CLEAN_CLAIM             | ENDED     | ENDED     | has a new session
                    CONNECTED | DEPARTURE               | DEPARTING | ABSENT    | departing
                    CONNECTED | ARRIVAL                 | CONNECTED | CONNECTED | held, then sent
                    CONNECTED | CONNECTION_ENDED        | ABSENT    | ABSENT    | -
                    CONNECTED | EXPIRY                  | CONNECTED | CONNECTED | -
                    CONNECTED | TERMINATION             | ENDED     | ENDED     | -
                    CONNECTED | DELIVERY                | CONNECTED | CONNECTED | sent, then sent
                    ABSENT    | CLAIM                   | RESUMING  | CONNECTED | has the session
                    ABSENT    | CLAIM_FROM_ANOTHER_LOOP | RESUMING  | CONNECTED | has the session
                    ABSENT    | CLEAN_CLAIM             | ENDED     | ENDED     | has a new session
                    ABSENT    | DEPARTURE               | DEPARTING | ABSENT    | departing
                    ABSENT    | ARRIVAL                 | ABSENT    | ABSENT    | held, then queued
                    ABSENT    | CONNECTION_ENDED        | ABSENT    | ABSENT    | -
                    ABSENT    | EXPIRY                  | ENDED     | ENDED     | -
                    ABSENT    | TERMINATION             | ENDED     | ENDED     | -
                    ABSENT    | DELIVERY                | ABSENT    | ABSENT    | queued, then queued
                    RESUMING  | CLAIM                   | RESUMING  | CONNECTED | has the session
                    RESUMING  | CLAIM_FROM_ANOTHER_LOOP | RESUMING  | CONNECTED | has the session
                    RESUMING  | CLEAN_CLAIM             | RESUMING  | ENDED     | has a new session
                    RESUMING  | DEPARTURE               | RESUMING  | ABSENT    | waits
                    RESUMING  | ARRIVAL                 | RESUMING  | CONNECTED | held, then sent
                    RESUMING  | CONNECTION_ENDED        | RESUMING  | CONNECTED | -
                    RESUMING  | EXPIRY                  | RESUMING  | CONNECTED | -
                    RESUMING  | TERMINATION             | ENDED     | ENDED     | -
                    RESUMING  | DELIVERY                | RESUMING  | CONNECTED | sent, then sent
                    MOVING    | CLAIM                   | MOVING    | CONNECTED | has the session
                    MOVING    | CLAIM_FROM_ANOTHER_LOOP | MOVING    | CONNECTED | has the session
                    MOVING    | CLEAN_CLAIM             | MOVING    | ENDED     | has a new session
                    MOVING    | DEPARTURE               | MOVING    | ABSENT    | waits
                    MOVING    | ARRIVAL                 | MOVING    | CONNECTED | held, then sent
                    MOVING    | CONNECTION_ENDED        | MOVING    | ABSENT    | -
                    MOVING    | EXPIRY                  | MOVING    | CONNECTED | -
                    MOVING    | TERMINATION             | MOVING    | ENDED     | -
                    MOVING    | DELIVERY                | MOVING    | CONNECTED | held, then sent
                    DEPARTING | CLAIM                   | DEPARTING | CONNECTED | has the session
                    DEPARTING | CLAIM_FROM_ANOTHER_LOOP | DEPARTING | CONNECTED | has the session
                    DEPARTING | CLEAN_CLAIM             | DEPARTING | ENDED     | has a new session
                    DEPARTING | DEPARTURE               | DEPARTING | DEPARTING | waits
                    DEPARTING | ARRIVAL                 | DEPARTING | ABSENT    | held, then queued
                    DEPARTING | CONNECTION_ENDED        | DEPARTING | ABSENT    | -
                    DEPARTING | EXPIRY                  | DEPARTING | ABSENT    | -
                    DEPARTING | TERMINATION             | ENDED     | ENDED     | -
                    DEPARTING | DELIVERY                | DEPARTING | ABSENT    | held, then queued
                    ENDED     | CLAIM                   | ENDED     | ENDED     | has a new session
                    ENDED     | CLAIM_FROM_ANOTHER_LOOP | ENDED     | ENDED     | has a new session
                    ENDED     | CLEAN_CLAIM             | ENDED     | ENDED     | has a new session
                    ENDED     | DEPARTURE               | ENDED     | ENDED     | gone
                    ENDED     | ARRIVAL                 | ENDED     | ENDED     | new session, held, then queued
                    ENDED     | CONNECTION_ENDED        | ENDED     | ENDED     | -
                    ENDED     | EXPIRY                  | ENDED     | ENDED     | -
                    ENDED     | TERMINATION             | ENDED     | ENDED     | -
                    ENDED     | DELIVERY                | ENDED     | ENDED     | dropped, then dropped
                    """)
    void eachEventHasItsOutcomeInEachPhase(SessionPhase phase, Event event, String now, String end, String what) {
        assertThat(outcome(phase, event)).isEqualTo("%s | %s | %s".formatted(now, end, what));
    }

    /** The phase right after an event, the one when everything else has happened, and what became of the event. */
    private String outcome(SessionPhase phase, Event event) {
        Session session = in(phase);
        Supplier<String> what = happens(event, session);
        SessionPhase now = session.life().phase();
        settle();
        if (replies.departure != null) {
            replies.departure.stay();
            settle();
        }
        return "%s | %s | %s".formatted(now, session.life().phase(), what.get());
    }

    private Supplier<String> happens(Event event, Session session) {
        return switch (event) {
            case CLAIM -> claim(session, 0, false);
            case CLAIM_FROM_ANOTHER_LOOP -> claim(session, 1, false);
            case CLEAN_CLAIM -> claim(session, 0, true);
            case DEPARTURE -> {
                replies.names.clear();
                depart();
                String now = replies.names.isEmpty() ? "waits" : replies.names.get(0);
                yield () -> now;
            }
            case ARRIVAL -> arrival(session);
            case CONNECTION_ENDED -> {
                RecordingSink present = (RecordingSink) session.sink();
                session.connectionEnded(present == null ? first : present, false, -1);
                yield () -> "-";
            }
            case EXPIRY -> {
                session.life().expireIfOffline();
                yield () -> "-";
            }
            case TERMINATION -> {
                session.execute(() -> session.terminate(ReasonCode.ADMINISTRATIVE_ACTION));
                runLoopOf(session);
                yield () -> "-";
            }
            case DELIVERY -> {
                deliver(session);
                String now = place(session);
                yield () -> now + ", then " + place(session);
            }
        };
    }

    private Supplier<String> claim(Session session, int loop, boolean clean) {
        SessionBench.Outcome outcome = bench.request("c", loop, clean, 60, newcomer);
        if (loop != session.owner().index()) {
            runLoopOf(session);
        }
        return () -> {
            if (outcome.session == null) {
                return "refused";
            }
            return outcome.session == session ? "has the session" : "has a new session";
        };
    }

    /** A session of the same client comes from another node. */
    private Supplier<String> arrival(Session session) {
        SessionArrival arrival = bench.registry.merge(new SessionState("c", null, 60, 0, 0, List.of(), List.of()));
        arrival.install(kept -> {});
        runLoopOf(session);
        if (session.hasEnded()) {
            settle();
        }
        Session taker = bench.registry.find("c");
        deliver(taker);
        String now = place(taker);
        arrival.finish(() -> {});
        return () -> (taker == session ? "" : "new session, ") + now + ", then " + place(taker);
    }

    private void deliver(Session session) {
        Subscription subscription = new Subscription(
                session, TopicFilter.of("t"), null, QoS.AT_MOST_ONCE, false, false, Subscription.NO_IDENTIFIER);
        session.deliver(bench.message("t", "m", QoS.AT_MOST_ONCE), subscription, RouteTicket.NONE);
    }

    private String place(Session session) {
        if (Stream.of(first, second, newcomer).anyMatch(sink -> sink.texts().contains("m"))) {
            return "sent";
        }
        if (bench.observer.dropped.containsKey(DropReason.SESSION_ENDED)) {
            return "dropped";
        }
        return session.queuedCount() > 0 ? "queued" : "held";
    }
}
