// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.RetainedVersion;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Gives the versions of the changes of one run of a node: near the wall clock, and later than all versions observed. The lower bits of the
 * clock are random bits of the run. So a run whose wall clock went back does not give the version of an earlier run that left no trace in
 * the store of this node, while another node has it.
 */
@AnyThread
final class RetainedClock {

    private static final long RUN_BITS = (1L << 10) - 1;

    private final NodeIdentity self;
    private final LongSupplier wallClockMillis;
    private final AtomicLong latest = new AtomicLong();

    /**
     * Creates the clock of a run.
     *
     * @param self this run, whose epoch has random lower bits
     * @param wallClockMillis milliseconds since 1970
     */
    RetainedClock(NodeIdentity self, LongSupplier wallClockMillis) {
        this.self = self;
        this.wallClockMillis = wallClockMillis;
    }

    /** Returns a version later than all previous ones. */
    RetainedVersion next() {
        long wall = RetainedVersion.clockOf(wallClockMillis.getAsLong());
        long run = self.epoch() & RUN_BITS;
        long next = latest.updateAndGet(last ->
                Math.min(FrameCodec.LAST_CLOCK, Math.max(wall, (last | RUN_BITS) + 1) | run));
        return new RetainedVersion(next, self.nodeId());
    }

    /** Makes later versions of this run later than a clock. */
    void observe(long other) {
        latest.accumulateAndGet(other, Math::max);
    }

    /** The latest clock of all versions known; 0 if there are none. */
    long latest() {
        return latest.get();
    }
}
