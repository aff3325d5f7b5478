// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Watches how much of the heap stays in use. It writes that down for the start script, which chooses the collector; it says when the
 * collector is the wrong one; and it collects what the serial collector of newer Java versions would leave until the heap has its
 * maximum size.
 *
 * <p>For one thread, which may wait for the disk.
 */
final class HeapWatch {

    /** How often to look. */
    static final Duration INTERVAL = Duration.ofSeconds(1);

    /** From here on a complete collection by one thread takes longer than a tenth or two of a second. The start script knows it too. */
    static final long LIMIT_BYTES = 256L << 20;

    /** Garbage that may pile up before it is collected: as much as is in use, and this. */
    private static final long GARBAGE_BYTES = 64L << 20;

    /** The same while young objects are or were just collected: a complete collection then may stop clients that wait already. */
    private static final long BUSY_GARBAGE_BYTES = 2 * GARBAGE_BYTES;

    /** The same in a storm of connections: what they leave behind grows with each attempt, and a pause delays all of them. */
    private static final long STORM_GARBAGE_BYTES = 6 * GARBAGE_BYTES;

    /** So many new connections from one look to the next one are a storm. */
    static final long STORM_CONNECTIONS = 100;

    /** Without a collection of young objects for so long it is quiet. Clients that try again do so every few seconds. */
    private static final long QUIET_NANOS = Duration.ofSeconds(10).toNanos();

    private static final long MEBIBYTE = 1 << 20;

    /** The least that is in use for so long counts: what is garbage in between does not. */
    private static final long SPAN_NANOS = Duration.ofMinutes(10).toNanos();

    /** The maximum of this period and of the one before is what is written down. */
    private static final long PERIOD_NANOS = Duration.ofHours(6).toNanos();

    private final ProgramHeap heap;
    private final LongSupplier connections;
    private final @Nullable HeapRecord record;
    private final Logger log;

    private long spanBegan;
    private long periodBegan;
    private long leastOfSpan = Long.MAX_VALUE;
    private long mostOfPeriod;
    private long mostBefore;
    private long writtenMebibytes;
    private long collectionsSeen;
    private long busyAt;
    private long connectionsSeen;
    private long stormAt;
    private boolean hasSpan;
    private boolean warned;
    private boolean unwritable;

    /**
     * Begins to watch.
     *
     * @param heap what to watch
     * @param connections how many were accepted since the start
     * @param record where to write, or null to write nothing
     * @param nowNanos now
     * @param log for what an operator should know
     */
    HeapWatch(ProgramHeap heap, LongSupplier connections, @Nullable HeapRecord record, long nowNanos, Logger log) {
        this.heap = heap;
        this.connections = connections;
        this.record = record;
        this.log = log;
        this.spanBegan = nowNanos;
        this.periodBegan = nowNanos;
        this.busyAt = nowNanos;
        this.stormAt = nowNanos - QUIET_NANOS;
        this.writtenMebibytes = recorded();
        this.mostBefore = writtenMebibytes * MEBIBYTE;
    }

    /** Looks at the heap. */
    void look(long nowNanos) {
        collectGarbage(nowNanos);
        long live = live();
        leastOfSpan = Math.min(leastOfSpan, live);
        if (nowNanos - spanBegan >= SPAN_NANOS) {
            mostOfPeriod = Math.max(mostOfPeriod, leastOfSpan);
            leastOfSpan = Long.MAX_VALUE;
            spanBegan = nowNanos;
            hasSpan = true;
        }
        if (nowNanos - periodBegan >= PERIOD_NANOS) {
            mostBefore = mostOfPeriod;
            mostOfPeriod = 0;
            periodBegan = nowNanos;
        }
        warn(live);
        long known = Math.max(mostOfPeriod, mostBefore) / MEBIBYTE;
        if (Math.abs(known - writtenMebibytes) > Math.max(writtenMebibytes, 64) / 4) {
            write(known);
        }
    }

    /** Writes down what is known at the end. */
    void close() {
        long atEnd = heap.stopsForAll() || !hasSpan ? live() : 0; // with garbage, where there is nothing better
        long known = Math.max(Math.max(mostOfPeriod, mostBefore), atEnd) / MEBIBYTE;
        if (known != writtenMebibytes) {
            write(known);
        }
    }

    /** Collectors without complete collections may leave garbage: too much is on the safe side, the one with short pauses. */
    private long live() {
        return heap.stopsForAll() ? heap.usedAfterCollection() : heap.used();
    }

    private void collectGarbage(long nowNanos) {
        if (!heap.stopsForAll()) {
            return;
        }
        long collections = heap.youngCollections();
        if (collections != collectionsSeen) {
            collectionsSeen = collections;
            busyAt = nowNanos;
        }
        long after = heap.usedAfterCollection();
        if (after < LIMIT_BYTES && heap.used() > 2 * after + room(nowNanos)) {
            heap.collect();
        }
    }

    private long room(long nowNanos) {
        long opened = connections.getAsLong();
        if (opened - connectionsSeen >= STORM_CONNECTIONS) {
            stormAt = nowNanos;
        }
        connectionsSeen = opened;
        if (nowNanos - stormAt < QUIET_NANOS) {
            return STORM_GARBAGE_BYTES;
        }
        return nowNanos - busyAt < QUIET_NANOS ? BUSY_GARBAGE_BYTES : GARBAGE_BYTES;
    }

    private void warn(long live) {
        if (!warned && heap.stopsForAll() && live >= LIMIT_BYTES) {
            warned = true;
            log.warn(
                    "{} MiB of the heap are in use, and each complete collection stops the broker for longer: {}",
                    live / MEBIBYTE,
                    record == null
                            ? "start it with bin/smqtt start --profile large"
                            : "the next start by bin/smqtt chooses another collector, or start with --profile large");
        }
    }

    private long recorded() {
        try {
            return record == null ? 0 : record.read();
        } catch (IOException e) {
            unusable(e);
            return 0;
        }
    }

    private void write(long mebibytes) {
        writtenMebibytes = mebibytes;
        if (record == null) {
            return;
        }
        try {
            record.write(mebibytes);
        } catch (IOException e) {
            unusable(e);
        }
    }

    private void unusable(IOException e) {
        if (!unwritable) {
            unwritable = true;
            log.warn("the next start cannot choose its collector by the heap in use: {}", e.toString());
        }
    }
}
