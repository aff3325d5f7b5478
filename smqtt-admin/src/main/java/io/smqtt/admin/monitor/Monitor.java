// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import io.smqtt.BrokerModule;
import io.smqtt.spi.BrokerFigures;
import io.smqtt.spi.MetricsSource;
import io.smqtt.thread.AnyThread;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.lang.management.RuntimeMXBean;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Reads the figures of this node: every 10 s for their {@link History}, and on demand. A reading takes some microseconds. Without a module
 * that keeps metrics all figures are 0.
 */
@AnyThread
public final class Monitor implements BrokerModule {

    private static final Logger LOG = LoggerFactory.getLogger(Monitor.class);
    private static final RuntimeMXBean RUNTIME = ManagementFactory.getRuntimeMXBean();
    private static final OperatingSystemMXBean SYSTEM = ManagementFactory.getOperatingSystemMXBean();
    private static final BrokerFigures NONE = new BrokerFigures(0, 0, 0, 0, Map.of(), 0, 0, 0, 0, 0, 0, 0, 0);

    /** The shortest time over which a rate is computed. */
    private static final double SHORTEST_SECONDS = 1;

    private final History history = new History();
    private volatile @Nullable MetricsSource source;
    private volatile @Nullable Disposable task;
    private volatile Pair last;

    /** Creates the monitor of a broker that is about to start. */
    public Monitor() {
        Reading first = read();
        last = new Pair(first, first);
    }

    /**
     * Two readings, one after the other.
     *
     * @param before the earlier one
     * @param now the later one
     */
    record Pair(Reading before, Reading now) {

        /** The figures now with rates, by their names in JSON. */
        Map<String, Object> fields() {
            return FigureMap.of(this::putTo);
        }

        void putTo(FigureSink all) {
            now.putTo(all, before);
        }
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> {
            source = core.metrics();
            Reading first = read();
            last = new Pair(first, first);
            task = Schedulers.boundedElastic()
                    .schedulePeriodically(
                            this::sample, History.SAMPLE_SECONDS, History.SAMPLE_SECONDS, TimeUnit.SECONDS);
        });
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            Disposable running = task;
            if (running != null) {
                running.dispose();
            }
        });
    }

    private void sample() {
        try {
            Reading now = read();
            Reading before = last.now;
            history.add(now.timeMillis(), now.sample(before));
            last = new Pair(before, now);
        } catch (RuntimeException e) {
            LOG.warn("a sample of the history is missing", e);
        }
    }

    /** Reads all figures. */
    Reading read() {
        MetricsSource metrics = source;
        Runtime runtime = Runtime.getRuntime();
        return new Reading(
                System.currentTimeMillis(),
                System.nanoTime(),
                metrics == null ? NONE : metrics.figures(),
                cpuNanos(),
                runtime.totalMemory() - runtime.freeMemory(),
                RUNTIME.getUptime());
    }

    private static long cpuNanos() {
        return SYSTEM instanceof com.sun.management.OperatingSystemMXBean process
                ? Math.max(0, process.getProcessCpuTime())
                : 0;
    }

    /** The figures now, with rates since the last sample; if that has just been taken, those of the sample. */
    Pair current() {
        Pair sampled = last;
        Reading now = read();
        return now.secondsSince(sampled.now) < SHORTEST_SECONDS
                ? new Pair(sampled.before, now)
                : new Pair(sampled.now, now);
    }

    /** The history of the last seconds, by the names in JSON. */
    List<Map<String, Object>> latest(long seconds) {
        return history.latest(System.currentTimeMillis(), seconds);
    }
}
