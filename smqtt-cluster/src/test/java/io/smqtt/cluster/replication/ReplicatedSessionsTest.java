// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The model of replicated sessions in random histories: nothing acknowledged is lost, QoS 2 comes once, each publisher's
 * messages in order, an epoch has one server, a minority acknowledges nothing, replicas are equal, and sessions of a node
 * that is gone are served within 5 s. And each planted mistake breaks that in one of the same histories, so the model would
 * see it. {@code -Dsmqtt.seeds=N} tries more histories, {@code -Dsmqtt.seed=S} one.
 */
class ReplicatedSessionsTest {

    private static final int USUAL = 60;

    @Test
    void nothingIsBrokenInAnyHistory() {
        seeds().forEach(seed -> {
            String failure = failure(seed, null);
            assertThat(failure).as("seed %d: -Dsmqtt.seed=%d", seed, seed).isNull();
        });
    }

    @ParameterizedTest
    @EnumSource(Mistake.class)
    void aPlantedMistakeIsFound(Mistake mistake) {
        assertThat(seeds().filter(seed -> failure(seed, mistake) != null).findFirst())
                .as("a seed that finds %s", mistake)
                .isPresent();
    }

    private static LongStream seeds() {
        Long one = Long.getLong("smqtt.seed");
        return one != null ? LongStream.of(one) : LongStream.rangeClosed(1, Integer.getInteger("smqtt.seeds", USUAL));
    }

    private static @Nullable String failure(long seed, @Nullable Mistake mistake) {
        try {
            new History(seed, mistake).run();
            return null;
        } catch (RuntimeException | AssertionError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return cause.toString();
        }
    }
}
