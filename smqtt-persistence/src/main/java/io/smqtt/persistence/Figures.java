// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.concurrent.atomic.LongAdder;

/** Counts for {@link StoreStatistics}. */
final class Figures {

    private final LongAdder commits = new LongAdder();
    private final LongAdder operations = new LongAdder();
    private final LongAdder commitNanos = new LongAdder();
    private volatile long diskBytes;

    void committed(int count, long nanos) {
        commits.increment();
        operations.add(count);
        commitNanos.add(nanos);
    }

    void disk(long bytes) {
        diskBytes = bytes;
    }

    StoreStatistics read(long queuedBytes) {
        return new StoreStatistics(commits.sum(), operations.sum(), commitNanos.sum(), queuedBytes, diskBytes);
    }
}
