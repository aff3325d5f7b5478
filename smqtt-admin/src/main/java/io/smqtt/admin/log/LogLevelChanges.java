// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.log;

import io.smqtt.BrokerModule;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Changes of log levels, of which some end by themselves: at their time, or when the broker stops. */
@AnyThread
public final class LogLevelChanges implements BrokerModule {

    /** The levels, from the one that logs nothing to the one that logs most. */
    static final List<String> LEVELS = List.of("OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE");

    private static final Logger LOG = LoggerFactory.getLogger(LogLevelChanges.class);

    private final Map<String, Temporary> temporary = new HashMap<>(); // guarded by this

    /** Creates it without changes. */
    public LogLevelChanges() {}

    /**
     * A change that ends by itself.
     *
     * @param former the level before; null for that of the logger above
     * @param end ends it at its time
     */
    private record Temporary(@Nullable String former, Disposable.Swap end) {}

    /**
     * Sets the level of a logger. A change before, of the same logger, does not end by itself any more.
     *
     * @param level one of {@link #LEVELS}; null to take that of the logger above
     * @param time after which the level goes back to what it was before the first temporary change; null to keep it
     */
    synchronized void set(LogLevels levels, String name, @Nullable String level, @Nullable Duration time) {
        Temporary before = temporary.remove(name);
        if (before != null) {
            before.end.dispose();
        }
        if (time != null) {
            String former = before == null ? levels.get(name).configured() : before.former;
            Temporary change = new Temporary(former, Disposables.swap());
            temporary.put(name, change);
            change.end.update(Schedulers.boundedElastic()
                    .schedule(() -> revert(levels, name, change), time.toMillis(), TimeUnit.MILLISECONDS));
        }
        levels.set(name, level);
        LOG.info("the level of the logger {} is {}", name, shown(level));
    }

    private static String shown(@Nullable String level) {
        return level == null ? "inherited" : level;
    }

    /** Ends a change, unless a later one has replaced it. */
    private synchronized void revert(LogLevels levels, String name, Temporary change) {
        if (temporary.remove(name, change)) {
            change.end.dispose();
            levels.set(name, change.former);
            LOG.info("the level of the logger {} is {} again", name, shown(change.former));
        }
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.empty();
    }

    /** Ends the temporary changes: the process may continue without the broker. */
    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            LogLevels levels = LogLevels.present();
            if (levels != null) {
                Map<String, Temporary> left;
                synchronized (this) {
                    left = Map.copyOf(temporary);
                }
                left.forEach((name, change) -> revert(levels, name, change));
            }
        });
    }
}
