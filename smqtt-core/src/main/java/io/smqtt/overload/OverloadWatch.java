// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import io.netty.channel.EventLoop;
import io.smqtt.config.OverloadConfig;
import io.smqtt.overload.OverloadSignal.State;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Watches event loops and memory, and sets the level of overload. It has a thread of its own, because an event loop that is behind
 * cannot say so. Each change is logged once.
 */
public final class OverloadWatch implements Overload {

    private static final Logger LOG = LoggerFactory.getLogger(OverloadWatch.class);
    private static final long INTERVAL_MILLIS = 250;

    private static final String[] MEASURES = {
        "nothing is held back",
        "connections are accepted a few at a time",
        "CONNECT is refused",
        "publishers at QoS 0 are not read"
    };

    private final OverloadLevels levels;
    private final BrokerObserver observer;
    private final Ticker ticker;
    private final List<LoopLag> lags;
    private final List<OverloadSignal> signals;
    private final boolean enabled;
    private volatile int level; // only the watch's thread changes it
    private @Nullable Scheduler thread; // guarded by this
    private boolean stopped; // guarded by this

    /**
     * Creates one that does not run yet.
     *
     * @param config the thresholds
     * @param loops the event loops of the broker
     * @param observer notified of changes, on the thread of the watch
     */
    public OverloadWatch(OverloadConfig config, List<EventLoop> loops, BrokerObserver observer) {
        this(config, observer, System::nanoTime, lags(config, loops), memory(config));
    }

    OverloadWatch(
            OverloadConfig config,
            BrokerObserver observer,
            Ticker ticker,
            List<LoopLag> lags,
            List<OverloadSignal> others) {
        this.levels = new OverloadLevels(config);
        this.observer = observer;
        this.ticker = ticker;
        this.lags = lags;
        this.enabled = config.enabled();
        signals = new ArrayList<>(others);
        if (!lags.isEmpty()) {
            signals.add(new LoopSignal(lags, config.maxLoopLag().toNanos()));
        }
    }

    private static List<LoopLag> lags(OverloadConfig config, List<EventLoop> loops) {
        return config.maxLoopLag().isZero()
                ? List.of()
                : loops.stream()
                        .map(loop -> new LoopLag(loop, System::nanoTime))
                        .toList();
    }

    private static List<OverloadSignal> memory(OverloadConfig config) {
        List<OverloadSignal> signals = new ArrayList<>();
        if (config.maxHeapPercent() > 0) {
            signals.add(new MemorySignal(new HeapFigure(), config.maxHeapPercent()));
        }
        if (config.maxDirectPercent() > 0) {
            signals.add(new MemorySignal(new DirectFigure(), config.maxDirectPercent()));
        }
        return signals;
    }

    @Override
    @AnyThread
    public int level() {
        return level;
    }

    /** Begins to watch, unless the configuration or a stop forbids it. */
    @AnyThread
    public synchronized void start() {
        if (!enabled || stopped || thread != null) {
            return;
        }
        Scheduler own = Schedulers.newSingle("smqtt-overload", true);
        thread = own;
        lags.forEach(LoopLag::start);
        own.schedulePeriodically(this::sample, INTERVAL_MILLIS, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Ends the watch. The level stays as it is. */
    @AnyThread
    public synchronized void stop() {
        stopped = true;
        lags.forEach(LoopLag::stop);
        if (thread != null) {
            thread.dispose();
        }
    }

    /** Takes all figures once, and changes the level if it is time. */
    void sample() {
        try {
            long now = ticker.nanoTime();
            State worst = State.CALM;
            String cause = "";
            for (OverloadSignal signal : signals) {
                State state = signal.sample(now);
                if (state.compareTo(worst) > 0) {
                    worst = state;
                    cause = signal.text();
                }
            }
            change(level, levels.update(worst, now), cause);
        } catch (RuntimeException e) {
            LOG.warn("the check for overload failed", e);
        }
    }

    private void change(int before, int after, String cause) {
        if (after == before) {
            return;
        }
        level = after;
        if (after > before) {
            LOG.warn("overload level {}, was {}: {}; {}", after, before, cause, MEASURES[after]);
        } else {
            LOG.info("overload level {}, was {}: {}", after, before, MEASURES[after]);
        }
        observer.overloadChanged(after, cause);
    }
}
