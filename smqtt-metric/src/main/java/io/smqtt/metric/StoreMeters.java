// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.smqtt.config.StorageConfig;
import io.smqtt.spi.StoreFigures;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Meters of the store. Updated on the store's thread once per commit, which has many messages under load. */
final class StoreMeters {

    private static final StoreFigures NOTHING = new StoreFigures(true, 0, 0, 0, 0);

    private static final long IDLE = Long.MIN_VALUE;
    private static final long HANGS_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final LongAdder operations = new LongAdder();
    private final Timer kept;
    private final Timer failed;
    private volatile StoreFigures figures = NOTHING;
    private volatile double free = Double.NaN;
    private volatile double total = Double.NaN;
    private final @Nullable File volume;
    private final LongSupplier nanoTime;

    /** The start time of the current commit; {@link #IDLE} if there is none. */
    private volatile long workingSinceNanos = IDLE;

    /**
     * Creates meters.
     *
     * @param registry the registry of the meters
     * @param directory the directory of the store, or null without a store
     */
    StoreMeters(MeterRegistry registry, @Nullable Path directory) {
        this(registry, directory, System::nanoTime);
    }

    /**
     * Creates meters.
     *
     * @param registry the registry of the meters
     * @param directory the directory of the store, or null without a store
     * @param nanoTime the clock, in nanoseconds
     */
    StoreMeters(MeterRegistry registry, @Nullable Path directory, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        volume = directory == null ? null : directory.toFile();
        kept = commits(registry, "kept");
        failed = commits(registry, "failed");
        FunctionCounter.builder("smqtt.store.operations", operations, LongAdder::sum)
                .description("operations committed")
                .register(registry);
        Gauge.builder("smqtt.store.healthy", this, meters -> meters.isHealthy() ? 1 : 0)
                .description("1 if the store accepts operations and does not hang, or if there is no store")
                .register(registry);
        Gauge.builder("smqtt.store.commit.age", this, meters -> meters.workingNanos() / 1e9)
                .description("age of the current commit; grows while the disk hangs")
                .baseUnit("seconds")
                .register(registry);
        gauge("smqtt.store.queue", "bytes of operations that wait to be written", StoreFigures::queuedBytes)
                .baseUnit("bytes")
                .register(registry);
        gauge("smqtt.store.disk", "bytes of the store's files", StoreFigures::diskBytes)
                .baseUnit("bytes")
                .register(registry);
        room(registry, "smqtt.store.disk.free", "free space in the file system of the store", meters -> meters.free);
        room(registry, "smqtt.store.disk.total", "size of the file system of the store", meters -> meters.total);
        counter(registry, "smqtt.store.submitted", "bytes submitted to the store", StoreFigures::submittedBytes);
        counter(
                registry,
                "smqtt.store.written",
                "bytes that the store wrote to files; divided by smqtt.store.submitted it is the write amplification",
                StoreFigures::writtenBytes);
    }

    /** The directory of a broker's store; null if everything is in memory. */
    static @Nullable Path directory(StorageConfig storage) {
        return storage.kind() == StorageConfig.Kind.MEMORY ? null : storage.dir();
    }

    /** Figures of the file system at the last measurement of the store; NaN before it, and without a store. */
    private void room(MeterRegistry registry, String name, String description, ToDoubleFunction<StoreMeters> value) {
        Gauge.builder(name, this, value)
                .description(description)
                .baseUnit("bytes")
                .register(registry);
    }

    private static Timer commits(MeterRegistry registry, String outcome) {
        return Timer.builder("smqtt.store.commit")
                .description("duration of group commits, sync included")
                .tag("outcome", outcome)
                .serviceLevelObjectives(
                        Duration.ofMillis(1),
                        Duration.ofMillis(5),
                        Duration.ofMillis(20),
                        Duration.ofMillis(100),
                        Duration.ofMillis(500),
                        Duration.ofSeconds(2))
                .register(registry);
    }

    private Gauge.Builder<StoreMeters> gauge(String name, String description, ToDoubleFunction<StoreFigures> value) {
        return Gauge.builder(name, this, meters -> value.applyAsDouble(meters.figures))
                .description(description);
    }

    private void counter(
            MeterRegistry registry, String name, String description, ToDoubleFunction<StoreFigures> value) {
        FunctionCounter.builder(name, this, meters -> value.applyAsDouble(meters.figures))
                .description(description)
                .baseUnit("bytes")
                .register(registry);
    }

    void committed(int count, long nanos, boolean safe) {
        (safe ? kept : failed).record(nanos, TimeUnit.NANOSECONDS);
        if (safe) {
            operations.add(count);
        }
    }

    void working(boolean now) {
        workingSinceNanos = now ? nanoTime.getAsLong() : IDLE;
    }

    private long workingNanos() {
        long since = workingSinceNanos;
        return since == IDLE ? 0 : Math.max(0, nanoTime.getAsLong() - since);
    }

    /** Also reads the file system, on the store's thread: a scrape must not wait for a volume that hangs. */
    void measured(StoreFigures latest) {
        figures = latest;
        File file = volume;
        if (file != null) {
            long size = file.getTotalSpace();
            free = size == 0 ? Double.NaN : file.getUsableSpace();
            total = size == 0 ? Double.NaN : size;
        }
    }

    /** Free bytes in the file system of the store at the last measurement; NaN if unknown. */
    double freeBytes() {
        return free;
    }

    /** Bytes of the store's files at the last measurement. */
    long diskBytes() {
        return figures.diskBytes();
    }

    /** Whether the broker has a store. */
    boolean isPresent() {
        return volume != null;
    }

    /** Whether the store accepted operations at the last measurement, and does not hang. */
    boolean isHealthy() {
        return figures.healthy() && !isHanging();
    }

    /** Whether the store has been at one commit for ten seconds. */
    boolean isHanging() {
        return workingNanos() >= HANGS_NANOS;
    }
}
