// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.BrokerModule;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SourceConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.log.Outage;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
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
final class RunningSource {

    private static final Logger LOG = LoggerFactory.getLogger(RunningSource.class);
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.WARN, 1);
    private static final Duration END = Duration.ofSeconds(10);
    private static final Duration PROBE = Duration.ofSeconds(8);

    private final String name;
    private final SourceConfig config;
    private final Source source;
    private final MessageTemplate template;
    private final Outage outage;
    private final Outage losses;
    private final SourceCounts counts = new SourceCounts();

    private volatile BrokerModule.@Nullable Core core;
    private volatile @Nullable String lastError;
    private volatile boolean losing;
    private volatile @Nullable Long lag;

    // guarded by this
    private boolean here;
    private boolean standby;
    private boolean halted;
    private boolean closed;
    private boolean reading;
    private long runs; // begun and ended: the number of the present run, or of the wait for the next one
    private Duration delay;
    private @Nullable Disposable run;
    private @Nullable Disposable again;

    RunningSource(String name, SourceConfig config, Source source) {
        this(name, config, new MessageTemplate(name, config), source);
    }

    private RunningSource(String name, SourceConfig config, MessageTemplate template, Source source) {
        this.name = name;
        this.config = config;
        this.source = source;
        this.template = template;
        this.delay = config.minDelay();
        this.outage =
                new Outage(LOG, Level.WARN, "source " + name + ": it fails", "source " + name + ": it works again");
        this.losses = new Outage(
                LOG,
                Level.WARN,
                "source " + name + ": messages cannot be stored",
                "source " + name + ": messages are stored again");
    }

    /**
     * Checks the keys of a source, and makes it. Opens nothing; may read files.
     *
     * @throws ConfigurationException with all problems
     */
    static RunningSource of(String name, SourceConfig config, Map<String, SourceFactory> types) {
        SourceFactory factory = types.get(config.type());
        if (factory == null) {
            throw new ConfigurationException(
                    "sources." + name + ".type",
                    "is " + config.type() + ", but the types that are present are " + String.join(", ", types.keySet())
                            + "; others need their jar");
        }
        SinkSettings settings = SinkSettings.of("sources." + name + '.', factory.settings(), config.settings());
        MessageTemplate template = new MessageTemplate(name, config); // its problems before the source is made
        try {
            return new RunningSource(name, config, template, factory.open(new SourceContext(name, config, settings)));
        } catch (ConfigurationException e) {
            throw e;
        } catch (RuntimeException | LinkageError e) { // a type may be an extension
            throw new ConfigurationException("sources." + name + ".type", "cannot be used: " + e);
        }
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

    /** Ends reading for good, because the broker stops. */
    void stop() {
        follow(() -> {
            closed = true;
            here = false;
            standby = false;
        });
    }

    /** Changes what is wanted, and follows it; returns whether a run was ended. */
    private synchronized boolean follow(Runnable change) {
        change.run();
        boolean wanted = here && !halted && !closed;
        if (wanted == reading) {
            return false;
        }
        reading = wanted;
        if (wanted) {
            begin();
        } else {
            end();
        }
        return !wanted;
    }

    /** Begins a run when the one before has ended. */
    private void begin() {
        long number = ++runs;
        again = null;
        try {
            source.ended()
                    .timeout(END, Mono.empty())
                    .subscribe(nothing -> {}, error -> read(number), () -> read(number));
        } catch (RuntimeException | Error e) {
            ended(number, e);
        }
    }

    private synchronized void read(long number) {
        if (number != runs) {
            return; // it was ended here meanwhile
        }
        try {
            run = Mono.defer(() -> source.run(new Output(number)))
                    .subscribe(nothing -> {}, error -> ended(number, error), () -> ended(number, null));
        } catch (RuntimeException | Error e) { // such as a class that is missing
            ended(number, e);
        }
    }

    private void end() {
        runs++;
        Disposable waiting = again;
        again = null;
        if (waiting != null) {
            waiting.dispose();
        }
        Disposable running = run;
        run = null;
        lag = null;
        lastError = null;
        if (running != null) {
            running.dispose();
        }
    }

    private synchronized void ended(long number, @Nullable Throwable error) {
        if (number != runs) {
            return; // it was ended here
        }
        lag = null;
        fail(error == null ? "it has ended" : reason(error));
        long next = ++runs;
        run = null;
        again = Schedulers.parallel().schedule(() -> beginAgain(next), pause().toMillis(), TimeUnit.MILLISECONDS);
    }

    private static String reason(Throwable error) {
        String message = error.getMessage();
        return message == null || error instanceof Error ? error.toString() : message;
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
        if (number == runs) {
            begin();
        }
    }

    /** Checks the source: an empty text if it can be reached, otherwise the reason. */
    Mono<String> probe() {
        return reason(source.check());
    }

    /** Checks a source that is not read: an empty text if it could be, otherwise the reason. */
    Mono<String> tryOut() {
        return reason(source.tryOut());
    }

    private static Mono<String> reason(Mono<Void> check) {
        return check.timeout(PROBE)
                .thenReturn("")
                .onErrorResume(error -> Mono.just(String.valueOf(error.getMessage())));
    }

    /**
     * Ends the source for good: first its run, which acknowledges what the broker has, and is awaited for 10 seconds at most. Then it is closed on a thread that
     * may block. A failure is logged.
     */
    Mono<Void> finish() {
        return Mono.defer(this::over)
                .onErrorResume(error -> {
                    LOG.warn("source {}: its run could not be ended", name, error);
                    return Mono.empty();
                })
                .then(Mono.<Void>fromRunnable(this::close).subscribeOn(Schedulers.boundedElastic()));
    }

    private Mono<Void> over() {
        try {
            stop();
            return source.ended().timeout(END, Mono.empty());
        } catch (LinkageError e) { // of an extension; Reactor would let it pass
            return Mono.error(new IllegalStateException(e));
        }
    }

    /** Ends the source for good, whatever its run still does. Blocks for some seconds at most; a failure is logged. */
    void close() {
        try {
            stop();
            source.close();
        } catch (RuntimeException | LinkageError e) {
            LOG.warn("source {}: it could not be closed", name, e);
        }
    }

    // --- what arrives

    /** The output of one run. Its reports count until the run is over. */
    private final class Output implements SourceOutput {

        private final long number;

        Output(long number) {
            this.number = number;
        }

        @Override
        public Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
            return Mono.defer(() -> RunningSource.this.publish(columns));
        }

        @Override
        public boolean isPaused() {
            return RunningSource.this.isPaused();
        }

        @Override
        public void rejected(String reason) {
            counts.rejected.increment();
            String line = "something is turned away: " + reason;
            log(line, line);
        }

        @Override
        public void failing(String reason) {
            synchronized (RunningSource.this) {
                if (number == runs) {
                    fail(reason);
                }
            }
        }

        @Override
        public void lag(long messages) {
            told(messages);
        }

        @Override
        public void lagUnknown() {
            told(null);
        }

        private void told(@Nullable Long messages) {
            synchronized (RunningSource.this) {
                if (number == runs) {
                    lag = messages;
                }
            }
        }

        @Override
        public void working() {
            synchronized (RunningSource.this) {
                if (number == runs) {
                    lastError = null;
                    outage.recovered();
                    delay = config.minDelay();
                }
            }
        }
    }

    private Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
        counts.received.increment();
        BrokerModule.Core running = core;
        ApplicationMessage message;
        try {
            message = template.message(columns);
            if (running != null) {
                MessageTemplate.requireSize(message, running.config().limits());
            }
        } catch (IllegalArgumentException e) {
            counts.refused.increment();
            log("a message is dropped", "a message is dropped: " + e.getMessage());
            return Mono.just(false);
        }
        counts.inflight.incrementAndGet();
        try {
            Mono<Boolean> stored = running == null
                    ? Mono.error(new IllegalStateException("the broker does not run"))
                    : running.broker().publish(message).thenReturn(true);
            // a message whose sender has gone is in flight nevertheless
            return Mono.fromFuture(
                    stored.doOnSuccess(result -> stored())
                            .doOnError(this::notStored)
                            .toFuture(),
                    true);
        } catch (RuntimeException | Error e) { // without a signal
            counts.settled(false);
            throw e;
        }
    }

    private void stored() {
        counts.settled(true);
        if (losing) {
            losing = false;
            losses.recovered();
        }
    }

    private void notStored(Throwable error) {
        counts.settled(false);
        losing = true;
        losses.failed(LogText.escape(reason(error)));
    }

    private void log(String key, String line) {
        if (LINES.allows(name + ": " + key)) {
            LOG.warn("source {}: {}", name, LogText.escape(line));
        }
    }

    private boolean isPaused() {
        BrokerModule.Core running = core;
        return running == null
                || counts.inflight.get() >= config.inflight()
                || running.budget().isExceeded();
    }

    private void fail(String reason) {
        lastError = reason;
        outage.failed(LogText.escape(reason));
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
                counts.rejected.sum(),
                lag);
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
