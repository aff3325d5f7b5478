// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.replication.adoption.Audit.Figures;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The model of adoption, claims and return in random histories: nothing acknowledged is lost, QoS 2 comes once, messages of a publisher on a topic come
 * in order, a session has one server in each epoch and reign and none in an earlier one, and clients find their sessions within 5 s when a majority is
 * there. Each planted mistake breaks that. {@code -Dsmqtt.seeds=N} tries more histories, {@code -Dsmqtt.seed=S} one.
 */
class AdoptionModelTest {

    private static final int USUAL = 200;

    @Test
    void nothingIsBrokenInAnyHistory() {
        Figures sum = Figures.NONE;
        for (long seed : seeds(1).toArray()) {
            History history = new History(seed, null);
            assertThat(failureOf(history))
                    .as("seed %d: -Dsmqtt.seed=%d", seed, seed)
                    .isNull();
            sum = sum.plus(history.audit().figures());
        }

        assertThat(sum).as("what has happened").satisfies(figures -> {
            assertThat(figures.adoptions()).isPositive();
            assertThat(figures.returns()).isPositive();
            assertThat(figures.moves()).isPositive();
            assertThat(figures.arrived()).isPositive();
        });
    }

    @ParameterizedTest
    @EnumSource(Mistake.class)
    void aPlantedMistakeIsFound(Mistake mistake) {
        OptionalLong found = seeds(mistake.firstSeed())
                .filter(seed -> failureOf(new History(seed, mistake)) != null)
                .findFirst();

        assertThat(found).as("a seed that finds %s", mistake).isPresent();
        assertThat(failureOf(new History(found.getAsLong(), null)))
                .as("the same history without %s", mistake)
                .isNull();
    }

    @Test
    void aSeedGivesTheSameHistoryAgain() {
        History first = new History(7, null);
        History second = new History(7, null);
        first.run();
        second.run();

        assertThat(first.audit().figures()).isEqualTo(second.audit().figures());
    }

    private static LongStream seeds(long first) {
        Long one = Long.getLong("smqtt.seed");
        return one != null
                ? LongStream.of(one)
                : LongStream.range(first, first + Integer.getInteger("smqtt.seeds", USUAL));
    }

    private static @Nullable String failureOf(History history) {
        try {
            history.run();
            return null;
        } catch (RuntimeException | AssertionError e) {
            return e.getCause() == null ? e.toString() : e.getCause().toString();
        }
    }
}
