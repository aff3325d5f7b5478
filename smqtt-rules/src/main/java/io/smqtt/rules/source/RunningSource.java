// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.BrokerModule;
import io.smqtt.config.SourceConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.log.Outage;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A source of this broker: begins and ends its runs, publishes what arrives, and counts it. */
@AnyThread
final class RunningSource implements SourceOutput {

    private static final Logger LOG = LoggerFactory.getLogger(RunningSource.class);
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.WARN, 1);
    private static final Duration PROBE = Duration.ofSeconds(8);

    private final String name;
    private final SourceConfig config;
    private final Source source;
    private final MessageTemplate template;
    private final Outage outage;
    private final SourceCounts counts = new SourceCounts();

    private volatile BrokerModule.@Nullable Core core;
    private volatile @Nullable String lastError;

    // guarded by this
    private boolean here;
    private boolean standby;
    private boolean halted;
    private boolean reading;
    private long runs;
    private Duration delay;
    private @Nullable Disposable run;
    private @Nullable Disposable again;

    RunningSource(String name, SourceConfig config, Source source) {
        this.name = name;
        this.config = config;
        this.source = source;
        this.template = new MessageTemplate(name, config);
        this.delay = config.minDelay();
        this.outage =
                new Outage(LOG, Level.WARN, "source " + name + ": it fails", "source " + name + ": it works again");
    }

    String name() {
        return name;
    }

    SourceConfig config() {
        return config;
    }

    void start(BrokerModule.Core of) {
        core = of;
    }

    // --- runs

    /** Says whether this node has the source, or another one. */
    void choose(boolean isHere) {
        boolean ended = follow(() -> {
            here = isHere;
            standby = !isHere;
        });
        if (ended) {
            LOG.info("source {}: another node has it", name);
        }
    }

    /** Follows an operator. */
    void operate(Sources.Operation operation) {
        boolean ended = operation != Sources.Operation.START && follow(() -> halted = true);
        if (operation != Sources.Operation.STOP) {
            follow(() -> {
                halted = false;
                delay = config.minDelay();
            });
            LOG.info("source {}: started by an operator", name);
        } else if (ended) {
            LOG.info("source {}: stopped by an operator", name);
        }
    }

    /** Ends reading, because the broker stops. */
    void stop() {
        follow(() -> {
            here = false;
            standby = false;
        });
    }

    /** Changes what is wanted, and follows it; returns whether a run was ended. */
    private boolean follow(Runnable change) {
        Disposable ended;
        synchronized (this) {
            change.run();
            ended = beginOrEnd();
        }
        if (ended != null) {
            ended.dispose();
        }
        return ended != null;
    }

    /** Begins to read, or ends it; returns the run that is to be ended. */
    private @Nullable Disposable beginOrEnd() {
        boolean wanted = here && !halted;
        if (wanted == reading) {
            return null;
        }
        reading = wanted;
        if (wanted) {
            begin();
            return null;
        }
        runs++;
        Disposable waiting = again;
        if (waiting != null) {
            waiting.dispose();
            again = null;
        }
        Disposable running = run;
        run = null;
        lastError = null;
        return running;
    }

    private void begin() {
        long number = ++runs;
        again = null;
        run = source.run(this).subscribe(nothing -> {}, error -> ended(number, error), () -> ended(number, null));
    }

    private void ended(long number, @Nullable Throwable error) {
        String reason = error == null ? "it has ended" : String.valueOf(error.getMessage());
        synchronized (this) {
            if (number != runs || !reading) {
                return; // it was ended here
            }
            run = null;
            again = Schedulers.parallel().schedule(() -> beginAgain(number), pause().toMillis(), TimeUnit.MILLISECONDS);
            failing(reason);
        }
    }

    /** Random, up to three times the one before. */
    private Duration pause() {
        Duration now = delay;
        long longest = Math.min(config.maxDelay().toMillis(), 3 * now.toMillis());
        delay = Duration.ofMillis(
                ThreadLocalRandom.current().nextLong(config.minDelay().toMillis(), longest + 1));
        return now;
    }

    private synchronized void beginAgain(long number) {
        if (reading && number == runs) {
            begin();
        }
    }

    /** Checks the source: an empty text if it can be reached, otherwise the reason. */
    Mono<String> probe() {
        return source.check()
                .timeout(PROBE)
                .thenReturn("")
                .onErrorResume(error -> Mono.just(String.valueOf(error.getMessage())));
    }

    /** Ends the source. Blocks for some seconds at most. */
    void close() {
        stop();
        source.close();
    }

    // --- what arrives

    @Override
    public Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
        return Mono.defer(() -> {
            counts.received.increment();
            ApplicationMessage message;
            try {
                message = template.message(columns);
            } catch (IllegalArgumentException e) {
                counts.refused.increment();
                log("a message is dropped", String.valueOf(e.getMessage()));
                return Mono.just(false);
            }
            counts.inflight.incrementAndGet();
            BrokerModule.Core running = core;
            Mono<Boolean> stored = running == null
                    ? Mono.error(new IllegalStateException("the broker does not run"))
                    : running.broker().publish(message).thenReturn(true);
            // one that nobody waits for any more is in flight nevertheless
            return Mono.fromFuture(
                    stored.doOnSuccess(result -> counts.settled(true))
                            .doOnError(error -> counts.settled(false))
                            .toFuture(),
                    true);
        });
    }

    @Override
    public void rejected(String reason) {
        counts.rejected.increment();
        log("something is turned away", reason);
    }

    private void log(String what, String reason) {
        if (LINES.allows(name + ": " + what)) {
            LOG.warn("source {}: {}: {}", name, what, LogText.escape(reason));
        }
    }

    @Override
    public boolean isPaused() {
        BrokerModule.Core running = core;
        return running == null
                || counts.inflight.get() >= config.inflight()
                || running.budget().isExceeded();
    }

    @Override
    public void failing(String reason) {
        lastError = reason;
        outage.failed(LogText.escape(reason));
    }

    @Override
    public void working() {
        if (lastError != null) {
            lastError = null;
            outage.recovered();
        }
        synchronized (this) {
            delay = config.minDelay();
        }
    }

    // --- the state

    SourceStatus status() {
        return new SourceStatus(
                name,
                config.type(),
                state(),
                lastError,
                counts.received.sum(),
                counts.published.sum(),
                counts.refused.sum(),
                counts.failed.sum(),
                counts.inflight.get(),
                counts.rejected.sum());
    }

    private synchronized SourceStatus.State state() {
        if (!reading) {
            return standby && !halted ? SourceStatus.State.STANDBY : SourceStatus.State.STOPPED;
        }
        if (lastError != null) {
            return SourceStatus.State.FAILING;
        }
        return isPaused() ? SourceStatus.State.PAUSED : SourceStatus.State.RUNNING;
    }
}
