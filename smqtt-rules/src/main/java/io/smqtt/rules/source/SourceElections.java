// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.config.SourceConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.Election;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Schedulers;

/** Chooses the sources that this node has, once a second in a cluster. */
@AnyThread
final class SourceElections {

    private static final Logger LOG = LoggerFactory.getLogger(SourceElections.class);
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.WARN, 1);
    private static final int INTERVAL_MILLIS = 1_000;

    private final Supplier<List<RunningSource>> sources;
    private final Set<RunningSource> before = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Supplier<ClusterStatus> cluster;
    private volatile Disposable ticks = Disposables.disposed();

    /**
     * Creates it for some sources.
     *
     * @param sources the present ones
     */
    SourceElections(Supplier<List<RunningSource>> sources) {
        this.sources = sources;
    }

    /**
     * Begins, when the broker runs.
     *
     * @param view the cluster, or null if this broker is alone
     */
    void begin(@Nullable Supplier<ClusterStatus> view) {
        cluster = view;
        sources.get().forEach(this::add);
        if (view != null) {
            ticks = Schedulers.parallel()
                    .schedulePeriodically(() -> elect(view), 0, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Begins with a source that is there now: at once if each node has it. */
    void add(RunningSource source) {
        if (!isElected(source)) {
            source.choose(true);
        }
    }

    private boolean isElected(RunningSource source) {
        return cluster != null && source.config().nodes() == SourceConfig.Nodes.ONE;
    }

    private void elect(Supplier<ClusterStatus> view) {
        List<RunningSource> elected =
                sources.get().stream().filter(this::isElected).toList();
        before.retainAll(elected);
        elected.forEach(source -> tryToElect(source, view));
    }

    /** Chooses, or leaves the source where it is if that fails. */
    private void tryToElect(RunningSource source, Supplier<ClusterStatus> view) {
        try {
            elect(source, view.get());
        } catch (RuntimeException e) {
            if (LINES.allows(source.name())) {
                LOG.warn("source {}: its node cannot be chosen", source.name(), e);
            }
        }
    }

    /** Chooses a source that was chosen the last time, too, so that the former node has ended its reading. */
    private void elect(RunningSource source, ClusterStatus view) {
        boolean chosen = Election.isChosen("source:" + source.name(), view);
        source.choose(chosen && !before.add(source));
        if (!chosen) {
            before.remove(source);
        }
    }

    /** Chooses no more. */
    void end() {
        ticks.dispose();
    }
}
