// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.RetainedVersion;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The versions that the runs of a node give to changes of retained messages. */
class RetainedClockTest {

    private static final long MILLIS = 1_700_000_000_000L;

    private long wallMillis = MILLIS;
    private final RetainedClock clock = run(77);

    private RetainedClock run(long epoch) {
        return new RetainedClock(new NodeIdentity("n", epoch), () -> wallMillis);
    }

    @Test
    void versionsFollowTheWallClockAndIncreaseWhenItStands() {
        RetainedVersion last = clock.next();
        assertThat(last.millis()).isEqualTo(MILLIS);
        for (int i = 0; i < 1_000; i++) {
            RetainedVersion next = clock.next();
            assertThat(next.isAfter(last)).isTrue();
            last = next;
        }
        wallMillis += 1_000;
        assertThat(clock.next().millis()).isEqualTo(wallMillis);
        wallMillis -= 100_000;
        assertThat(clock.next().millis()).isEqualTo(MILLIS + 1_000);
    }

    @Test
    void aVersionIsLaterThanEveryClockObserved() {
        long theirs = RetainedVersion.clockOf(MILLIS + 5_000);
        for (long clockOfOther = theirs; clockOfOther < theirs + 5_000; clockOfOther++) {
            clock.observe(clockOfOther);
            assertThat(clock.next().clock()).isGreaterThan(clockOfOther);
        }
        clock.observe(1);
        assertThat(clock.latest()).isGreaterThan(theirs);
    }

    @Test
    void runsThatContinueFromTheSameClockGiveDifferentVersions() {
        Set<RetainedVersion> versions = new HashSet<>();
        long observed = RetainedVersion.clockOf(MILLIS + 5_000) + 1;
        for (int epoch = 0; epoch < 100; epoch++) {
            RetainedClock run = run(epoch);
            run.observe(observed);
            for (int i = 0; i < 100; i++) {
                assertThat(versions.add(run.next())).isTrue();
            }
        }
    }

    @Test
    void aRemovalThatIsRepeatedIsEarlierThanEachChangeAfterTheMessage() {
        RetainedVersion message = clock.next();
        RetainedVersion removal = RetainedHorizon.removalOf(message);

        assertThat(removal.isAfter(message)).isTrue();
        assertThat(clock.next().isAfter(removal)).isTrue();
        assertThat(new RetainedVersion(message.clock(), "n-1").isAfter(removal)).isTrue();
        assertThat(new RetainedVersion(message.clock() + 1, "a").isAfter(removal))
                .isTrue();
    }
}
