// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the checks of a connection since its last bytes. Checks are counted instead of time, because after a pause of this process the
 * bytes of other nodes are still waiting.
 */
@AnyThread
final class Silence {

    private static final int PROCESSING = Integer.MIN_VALUE / 2;

    private final AtomicInteger checks = new AtomicInteger();

    /** Bytes have arrived. */
    void heard() {
        checks.lazySet(0);
    }

    /** Bytes are being processed, and none are read meanwhile: ends with {@link #heard}. */
    void processing() {
        checks.lazySet(PROCESSING);
    }

    /** Counts a check. */
    void checked() {
        checks.incrementAndGet();
    }

    /** Whether nothing has arrived in that number of checks. */
    boolean isLongerThan(int limit) {
        return checks.get() > limit;
    }
}
