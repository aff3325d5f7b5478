// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FirstRoutesTest {

    private static final NodeIdentity OTHER = new NodeIdentity("other", 1);

    private final List<NodeIdentity> missing = new ArrayList<>();
    private boolean isComplete;
    private long nanos = Long.MAX_VALUE - 10; // it may overflow
    private final FirstRoutes routes =
            new FirstRoutes(() -> isComplete, () -> missing, Duration.ofSeconds(5), () -> nanos);

    private void passSeconds(long seconds) {
        nanos += TimeUnit.SECONDS.toNanos(seconds);
    }

    @Test
    void theStartDoesNotWaitWhenAllRoutesAreKnown() {
        isComplete = true;

        assertThat(routes.isOver()).isTrue();
    }

    @Test
    void aReachableNodeIsAwaitedUntilItsRoutesAreKnown() {
        missing.add(OTHER);
        passSeconds(40);
        assertThat(routes.isOver()).isFalse();

        isComplete = true;
        assertThat(routes.isOver()).isTrue();
    }

    @Test
    void aReachableNodeIsNotAwaitedForEver() {
        missing.add(OTHER);
        passSeconds(59);
        assertThat(routes.isOver()).isFalse();

        passSeconds(1);
        assertThat(routes.isOver()).isTrue();
    }

    @Test
    void aProcessThatDoesNotIntroduceItselfIsAwaitedForAMoment() {
        passSeconds(4);
        assertThat(routes.isOver()).isFalse();

        passSeconds(1);
        assertThat(routes.isOver()).isTrue();
    }

    @Test
    void aNodeThatIsNoLongerReachableIsNotAwaited() {
        missing.add(OTHER);
        passSeconds(10);
        assertThat(routes.isOver()).isFalse();

        missing.clear();
        assertThat(routes.isOver()).isTrue();
    }
}
