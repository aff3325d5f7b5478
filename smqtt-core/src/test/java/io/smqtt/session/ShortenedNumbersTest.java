// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The identifiers of a client's next messages while they are stored in a short form, commit by commit. */
class ShortenedNumbersTest {

    private static final int ALL = 65_535;

    private final FoundStore store = new FoundStore();
    private final SessionBench bench = new SessionBench(1, LimitsConfig.defaults(), SessionConfig.defaults(), store);
    private final RecordingSink sink = new RecordingSink();
    private final List<String> events = new ArrayList<>();
    private Session session;
    private InboundFlow inbound;

    @BeforeEach
    void useManyIdentifiers() {
        bench.registry.rememberTaken();
        bench.registry.recover();
        commitAll();
        SessionBench.Outcome outcome = bench.request("x", 0, false, 3_600, sink);
        commitAll();
        session = Objects.requireNonNull(outcome.session);
        inbound = session.inbound();
        for (int id = 1; id <= ExchangeNumbers.MANY; id++) {
            inbound.received(id);
            inbound.release(id, false, false, () -> {});
        }
        commitAll();
        assertThat(inbound.isLong()).isTrue();
    }

    private void commit() {
        store.commit();
        bench.run();
    }

    private void commitAll() {
        for (int i = 0; i < 5; i++) {
            bench.run();
            commit();
        }
    }

    private void shorten() {
        inbound.shorten(() -> events.add("short"));
        bench.run();
    }

    private List<Long> numbers() {
        ExchangeNumbers numbers =
                Objects.requireNonNull(Objects.requireNonNull(session.record()).numbers());
        return IntStream.rangeClosed(1, ALL).mapToObj(numbers::of).toList();
    }

    @Test
    void rowsThatCannotBeRemovedCountOn() {
        List<Long> rows = numbers().subList(0, ExchangeNumbers.MANY);
        shorten();
        commit(); // the number for all others
        store.failing = true;
        commit();

        assertThat(events).containsExactly("short");
        assertThat(numbers()).startsWith(rows.toArray(Long[]::new));
        assertThat(inbound.isLong()).as("it is tried again").isTrue();

        store.failing = false;
        shorten();
        commitAll();
        assertThat(inbound.isLong()).isFalse();
        assertThat(numbers()).doesNotHaveDuplicates();
    }

    @Test
    void aClientThatTakesOverTheSessionWaitsForTheEnd() {
        inbound.afterShortened(() -> events.add("at once"));
        shorten();
        assertThat(inbound.isShortening()).isTrue();
        assertThat(inbound.isLong()).as("not twice").isFalse();
        inbound.afterShortened(() -> events.add("taken over"));
        commit();
        assertThat(inbound.isShortening()).isTrue();
        assertThat(events).containsExactly("at once");
        commit();

        assertThat(inbound.isShortening()).isFalse();
        assertThat(events).containsExactly("at once", "short", "taken over");
    }

    /** A move to another node does not wait for the end. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aSessionThatMovesHasOneNumberForEachIdentifier(int commits) {
        shorten();
        for (int i = 0; i < commits; i++) {
            commit();
        }
        session.connectionEnded(sink, false, -1);
        bench.run();
        List<Long> before = numbers();
        List<SessionState> states = new ArrayList<>();
        new OutgoingTransfer(session, bench.resources).begin(new SessionDeparture.Reply() {
            @Override
            public void departing(SessionDeparture departure) {
                states.add(departure.state());
            }

            @Override
            public void gone() {
                events.add("gone");
            }

            @Override
            public void refused() {
                events.add("refused");
            }

            @Override
            public void busy() {
                events.add("busy");
            }
        });
        bench.run();
        commitAll();

        assertThat(states).hasSize(1);
        ExchangeNumbers moved = new ExchangeNumbers(0);
        states.get(0).numbers().forEach(moved::put);
        assertThat(IntStream.rangeClosed(1, ALL).mapToObj(moved::of).toList()).isEqualTo(before);
    }
}
