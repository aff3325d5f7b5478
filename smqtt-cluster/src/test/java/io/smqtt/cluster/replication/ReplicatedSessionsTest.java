// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The model of replicated sessions in random histories: nothing acknowledged is lost, QoS 2 comes once, each publisher's
 * messages in order, an epoch has one server, a minority acknowledges nothing, replicas are equal, and sessions of a node
 * that is gone are served within 5 s. And each planted mistake breaks that in a history which is good
 * without it. {@code -Dsmqtt.seeds=N} tries more histories, {@code -Dsmqtt.seed=S} one.
 */
@Tag("slow")
class ReplicatedSessionsTest {

    private static final int USUAL = 50;

    @Test
    void nothingIsBrokenInAnyHistory() {
        seeds(1).forEach(ReplicatedSessionsTest::holds);
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void aPlantedMistakeIsFound(Mistake mistake) {
        OptionalLong found = seeds(mistake.firstSeed())
                .filter(seed -> failure(seed, mistake) != null)
                .findFirst();

        assertThat(found).as("a seed that finds %s", mistake).isPresent();
        holds(found.getAsLong());
    }

    static Stream<Mistake> mistakes() {
        return Stream.of(Mistake.values()).filter(mistake -> mistake.firstSeed() > 0);
    }

    private static void holds(long seed) {
        assertThat(failure(seed, null))
                .as("seed %d: -Dsmqtt.seed=%d", seed, seed)
                .isNull();
    }

    private static LongStream seeds(long first) {
        Long one = Long.getLong("smqtt.seed");
        return one != null
                ? LongStream.of(one)
                : LongStream.range(first, first + Integer.getInteger("smqtt.seeds", USUAL));
    }

    private static @Nullable String failure(long seed, @Nullable Mistake mistake) {
        try {
            new History(seed, mistake).run();
            return null;
        } catch (RuntimeException | AssertionError e) {
            return e.getCause() == null ? e.toString() : e.getCause().toString();
        }
    }
}
