// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import com.nimbusds.jose.JWSAlgorithm;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.log.LogLimiter;
import io.smqtt.spi.BackendOutcome;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Keys from a server, fetched again in the background. While the server fails, the last keys stay in force. A token with a {@code kid} that
 * is not known makes a further request, at most once in 30 seconds, and waits for it.
 */
@AnyThread
final class FetchedKeys implements KeySource {

    private static final Logger LOG = LoggerFactory.getLogger(FetchedKeys.class);
    private static final long MISS_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long FIRST_RETRY_MILLIS = 1_000;
    private static final long LAST_RETRY_MILLIS = 30_000;
    private static final int MAXIMUM_SHIFT = 5;
    private static final double JITTER = 0.1;

    /** The server. */
    interface Server {

        /** Asks for the set of keys. */
        Mono<String> body();

        /** Closes connections. */
        void close();
    }

    /** Runs a task later. */
    interface Timer {

        /** Runs a task once, after a time. */
        Disposable schedule(Runnable task, Duration delay);
    }

    private final BackendContext context;
    private final Server server;
    private final Set<JWSAlgorithm> allowed;
    private final Duration refreshInterval;
    private final Timer timer;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private final Disposable.Swap next = Disposables.swap();
    private final AtomicReference<Sinks.@Nullable Empty<Void>> running = new AtomicReference<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicLong missed;
    private volatile @Nullable JsonKeySet known;

    FetchedKeys(
            BackendContext context, Server server, Set<JWSAlgorithm> allowed, Duration refreshInterval, Timer timer) {
        this.context = context;
        this.server = server;
        this.allowed = Set.copyOf(allowed);
        this.refreshInterval = refreshInterval;
        this.timer = timer;
        missed = new AtomicLong(context.ticker().nanoTime() - MISS_NANOS);
    }

    @Override
    public void start() {
        refresh();
    }

    /** Fetches the keys, unless that is under way. */
    @Override
    public void refresh() {
        Sinks.Empty<Void> mine = Sinks.empty();
        if (!next.isDisposed() && running.compareAndSet(null, mine)) {
            fetch(mine);
        }
    }

    @Override
    public Mono<List<VerificationKey>> keys(SignedToken token) {
        List<VerificationKey> found = candidates(token);
        if (!found.isEmpty() || !VerificationKey.isPublic(token.header().getAlgorithm())) {
            return Mono.just(found);
        }
        Sinks.Empty<Void> flight = known == null ? running.get() : flightForMiss();
        return flight == null ? after(token) : join(flight, token);
    }

    /** The request that is under way, or a new one if that is allowed now. */
    private Sinks.@Nullable Empty<Void> flightForMiss() {
        Sinks.Empty<Void> mine = Sinks.empty();
        Sinks.Empty<Void> other = running.compareAndExchange(null, mine);
        if (other != null) {
            return other;
        }
        if (takeMiss()) {
            fetch(mine);
            return mine;
        }
        running.set(null);
        mine.tryEmitEmpty();
        return null;
    }

    private boolean takeMiss() {
        long now = context.ticker().nanoTime();
        long last = missed.get();
        return now - last >= MISS_NANOS && missed.compareAndSet(last, now);
    }

    private Mono<List<VerificationKey>> join(Sinks.Empty<Void> flight, SignedToken token) {
        return Mono.defer(() -> {
            if (waiting.incrementAndGet() > context.config().maxWaiting()) {
                waiting.decrementAndGet();
                return Mono.error(new BackendBusyException(context.name() + ": too many clients wait for keys", false));
            }
            return flight.asMono()
                    .doFinally(signal -> waiting.decrementAndGet())
                    .then(Mono.defer(() -> after(token)));
        });
    }

    /** The keys for a token for which nothing is fetched any more. */
    private Mono<List<VerificationKey>> after(SignedToken token) {
        List<VerificationKey> found = candidates(token);
        return found.isEmpty() && (known == null || failures.get() > 0)
                ? Mono.error(new IllegalStateException("the keys cannot be fetched"))
                : Mono.just(found);
    }

    private List<VerificationKey> candidates(SignedToken token) {
        JsonKeySet set = known;
        return set == null ? List.of() : set.candidates(token);
    }

    private void fetch(Sinks.Empty<Void> flight) {
        long start = context.ticker().nanoTime();
        Mono.defer(server::body)
                .timeout(context.config().timeout())
                .map(text -> JsonKeySet.parse(text, allowed))
                .switchIfEmpty(Mono.error(() -> new IllegalArgumentException("no answer")))
                .subscribe(set -> fetched(flight, set, start), error -> failed(flight, error, start));
    }

    private void fetched(Sinks.Empty<Void> flight, JsonKeySet set, long start) {
        known = set;
        boolean wasFailing = failures.getAndSet(0) > 0;
        context.observer().backendAnswered(context.name(), BackendOutcome.ANSWERED, nanosSince(start));
        if (wasFailing) {
            context.observer().backendWorking(context.name(), true);
        }
        double factor = 1 + ThreadLocalRandom.current().nextDouble(-JITTER, JITTER);
        end(flight, Duration.ofMillis((long) (refreshInterval.toMillis() * factor)));
    }

    private void failed(Sinks.Empty<Void> flight, Throwable error, long start) {
        boolean late = error instanceof TimeoutException;
        BackendOutcome outcome = late ? BackendOutcome.TIMED_OUT : BackendOutcome.FAILED;
        context.observer().backendAnswered(context.name(), outcome, nanosSince(start));
        int count = failures.incrementAndGet();
        if (count == 1) {
            context.observer().backendWorking(context.name(), false);
        }
        if (lines.allows(context.name())) {
            LOG.warn(
                    "backend {}: keys cannot be fetched, {}: {}",
                    context.name(),
                    known == null ? "there are none" : "the former ones stay in force",
                    late ? "no answer within " + context.config().timeout().toMillis() + " ms" : text(error));
        }
        long retry = Math.min(LAST_RETRY_MILLIS, FIRST_RETRY_MILLIS << Math.min(MAXIMUM_SHIFT, count - 1));
        end(flight, Duration.ofMillis(Math.min(retry, refreshInterval.toMillis())));
    }

    private static String text(Throwable error) {
        return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    }

    private long nanosSince(long start) {
        return Math.max(1, context.ticker().nanoTime() - start);
    }

    private void end(Sinks.Empty<Void> flight, Duration delay) {
        running.set(null);
        flight.tryEmitEmpty();
        if (!next.isDisposed()) {
            next.update(timer.schedule(this::refresh, delay));
        }
    }

    @Override
    public void close() {
        next.dispose();
        server.close();
    }
}
