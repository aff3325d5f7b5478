// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.spi.BackendOutcome;
import io.smqtt.spi.GuardedAnswer;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;

/**
 * Stands between the broker and one backend, which can be slow, hang, or die. At most a number of requests are in flight, and a number of
 * others wait; each one ends at its deadline. Equal requests are made once, and answers are used again for a while. A backend that fails
 * is not asked for a second, then one request tries it. Never blocks.
 */
@AnyThread
public final class Guard {

    private static final Logger LOG = LoggerFactory.getLogger(Guard.class);
    private static final int WINDOW_CALLS = 20;
    private static final int LEAST_CALLS = 5;
    private static final float FAILURE_PERCENT = 50;
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final String name;
    private final AccessBackendConfig config;
    private final Ticker ticker;
    private final LifecycleObserver observer;
    private final CircuitBreaker breaker;
    private final AnswerCache cache;
    private final RequestKey keys;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private final ConcurrentMap<ByteBuffer, Flight> flights = new ConcurrentHashMap<>();
    private final WaitingFlights waiting;
    private final AtomicInteger active = new AtomicInteger();
    private final AtomicInteger draining = new AtomicInteger();
    private final AtomicLong clears = new AtomicLong();

    /**
     * Creates a guard.
     *
     * @param name the name of the backend, for messages and meters
     * @param config its limits, and its further keys: if one of them uses <code>${peerport}</code>, no two connections share an answer
     * @param ticker the broker's clock
     * @param observer receives the outcome of each request
     */
    public Guard(String name, AccessBackendConfig config, Ticker ticker, LifecycleObserver observer) {
        keys = new RequestKey(usesPort(config));
        this.name = name;
        this.config = config;
        this.ticker = ticker;
        this.observer = observer;
        cache = new AnswerCache(config, ticker);
        waiting = new WaitingFlights(config.maxWaiting(), ticker, this::abandoned);
        breaker = CircuitBreaker.of(
                name,
                CircuitBreakerConfig.custom()
                        .slidingWindowType(SlidingWindowType.COUNT_BASED)
                        .slidingWindowSize(WINDOW_CALLS)
                        .minimumNumberOfCalls(LEAST_CALLS)
                        .failureRateThreshold(FAILURE_PERCENT)
                        .waitDurationInOpenState(PAUSE)
                        .permittedNumberOfCallsInHalfOpenState(1)
                        .ignoreExceptions(ClientRefusedException.class)
                        .build());
        breaker.getEventPublisher().onStateTransition(event -> {
            boolean working = event.getStateTransition().getToState() == CircuitBreaker.State.CLOSED;
            observer.backendWorking(name, working);
        });
        observer.backendWorking(name, true);
    }

    private static boolean usesPort(AccessBackendConfig config) {
        return config.settings().values().stream()
                .anyMatch(value -> value.text() != null && value.text().contains("${peerport}"));
    }

    /**
     * Asks about a client, unless the answer is known.
     *
     * @param kind the question, such as {@code user}
     * @param request the client
     * @param question makes the request
     * @param <T> the type of the answer
     * @return the answer; {@link BackendBusyException} if the request was not made, {@link ClientRefusedException} if the backend
     *     cannot answer about this client, another error if it has failed
     */
    public <T> Mono<T> ask(String kind, BackendRequest request, Supplier<Mono<T>> question) {
        return ask(keys.of(kind, request), question, null);
    }

    /**
     * Asks about a client within a limit of its own, unless the answer is known. The request and others that wait for it do not end with the limit.
     *
     * @param kind the question
     * @param request the client
     * @param question makes the request
     * @param limit the time of this client
     * @param <T> the type of the answer
     * @return as {@link #ask(String, BackendRequest, Supplier)}; also {@link BackendBusyException} if the request still waits at the end of the
     *     limit, and {@link TimeoutException} if it was made and not answered
     */
    public <T> Mono<T> ask(String kind, BackendRequest request, Supplier<Mono<T>> question, TimeLimit limit) {
        return ask(keys.of(kind, request), question, limit);
    }

    /**
     * Asks about a topic, unless the answer is known.
     *
     * @param request the client and the action
     * @param question makes the request
     * @param <T> the type of the answer
     * @return as {@link #ask(String, BackendRequest, Supplier)}
     */
    public <T> Mono<T> ask(TopicRequest request, Supplier<Mono<T>> question) {
        return ask(keys.of(request), question, null);
    }

    /**
     * Asks about a client although an answer may be known, which the new one replaces.
     *
     * @param kind the question
     * @param request the client
     * @param question makes the request
     * @param <T> the type of the answer
     * @return as {@link #ask(String, BackendRequest, Supplier)}
     */
    public <T> Mono<T> askAgain(String kind, BackendRequest request, Supplier<Mono<T>> question) {
        ByteBuffer key = keys.of(kind, request);
        cache.remove(key);
        return ask(key, question, null);
    }

    /**
     * Counts an answer that is computed in memory, with its time. It is neither limited nor kept, and a failure does not stop further questions.
     *
     * @param question computes the answer
     * @param <T> the type of the answer
     * @return the answer, or the error
     */
    public <T> Mono<T> count(Supplier<Mono<T>> question) {
        return Mono.defer(() -> {
            long start = ticker.nanoTime();
            return question.get()
                    .doOnSuccess(
                            answer -> counted(answer == null ? BackendOutcome.FAILED : BackendOutcome.ANSWERED, start))
                    .doOnError(error -> counted(outcome(error), start));
        });
    }

    private static BackendOutcome outcome(Throwable error) {
        if (error instanceof ClientRefusedException) {
            return BackendOutcome.ANSWERED;
        }
        if (error instanceof TimeoutException) {
            return BackendOutcome.TIMED_OUT;
        }
        return error instanceof BackendBusyException ? BackendOutcome.REFUSED_FULL : BackendOutcome.FAILED;
    }

    private void counted(BackendOutcome outcome, long start) {
        long nanos = outcome == BackendOutcome.REFUSED_FULL ? 0 : Math.max(1, ticker.nanoTime() - start);
        observer.backendAnswered(name, outcome, nanos);
    }

    /**
     * Forgets all answers, also those of requests that are under way: whoever asks from now on gets a newer one.
     *
     * @return about how many there were
     */
    public long clear() {
        clears.incrementAndGet();
        flights.clear();
        return cache.clear();
    }

    /**
     * Whether requests are made.
     *
     * @return false while the backend fails
     */
    public boolean isWorking() {
        return breaker.getState() == CircuitBreaker.State.CLOSED;
    }

    @SuppressWarnings("unchecked")
    private <T> Mono<T> ask(ByteBuffer key, Supplier<Mono<T>> question, @Nullable TimeLimit limit) {
        Object known = cache.get(key);
        if (known != null) {
            observer.backendAnswered(name, BackendOutcome.CACHED, 0);
            return Mono.just((T) known);
        }
        Flight mine = new Flight(key, () -> question.get().cast(Object.class), ticker.nanoTime());
        Flight other = flights.putIfAbsent(key, mine);
        if (other != null) {
            observer.backendAnswered(name, BackendOutcome.SHARED, 0);
            return limited(other, limit);
        }
        Mono<T> answer = limited(mine, limit);
        submit(mine);
        return answer;
    }

    @SuppressWarnings("unchecked")
    private <T> Mono<T> limited(Flight flight, @Nullable TimeLimit limit) {
        Mono<T> answer = (Mono<T>) flight.answer();
        return limit == null ? answer : limit.of(answer, flight.made(), name);
    }

    private void submit(Flight flight) {
        if (takePermit()) {
            run(flight);
        } else if (waiting.offer(flight)) {
            drain(); // the permit may have become free in the meantime
        } else {
            refuse(flight, BackendOutcome.REFUSED_FULL, "too many requests wait");
        }
    }

    private boolean takePermit() {
        for (int taken = active.get(); taken < config.maxConcurrent(); taken = active.get()) {
            if (active.compareAndSet(taken, taken + 1)) {
                return true;
            }
        }
        return false;
    }

    /** Starts waiting requests while there are permits. */
    private void drain() {
        if (draining.getAndIncrement() > 0) {
            return; // whoever is at it goes round once more; a request that ends at once must not call itself
        }
        int rounds = 1;
        while (rounds != 0) {
            startWaiting();
            rounds = draining.addAndGet(-rounds);
        }
    }

    private void startWaiting() {
        while (!waiting.isEmpty() && takePermit()) {
            Flight next = waiting.poll();
            if (next == null) {
                active.decrementAndGet();
            } else {
                run(next);
            }
        }
    }

    /** Makes a request, with a permit. */
    private void run(Flight flight) {
        if (flight.isAbandoned()) {
            active.decrementAndGet();
            abandoned(flight);
            drain();
            return;
        }
        if (!breaker.tryAcquirePermission()) {
            active.decrementAndGet();
            refuse(flight, BackendOutcome.REFUSED_DOWN, "the backend fails");
            drain();
            return;
        }
        long start = ticker.nanoTime();
        long cleared = clears.get();
        flight.make();
        GuardedAnswer.of(Mono.defer(flight.question()))
                .switchIfEmpty(Mono.error(NoSuchElementException::new))
                .timeout(config.timeout())
                .subscribe(answer -> answered(flight, answer, start, cleared), error -> failed(flight, error, start));
    }

    private void abandoned(Flight flight) {
        flights.remove(flight.key(), flight);
        flight.fail(new BackendBusyException(name + ": no client waits for the answer", false));
    }

    private void answered(Flight flight, Object answer, long start, long cleared) {
        long nanos = Math.max(1, ticker.nanoTime() - start);
        if (clears.get() == cleared) {
            cache.put(flight.key(), answer);
            if (clears.get() != cleared) {
                cache.remove(flight.key()); // it may be older than what has changed
            }
        }
        flights.remove(flight.key(), flight);
        breaker.onSuccess(nanos, TimeUnit.NANOSECONDS);
        observer.backendAnswered(name, BackendOutcome.ANSWERED, nanos);
        active.decrementAndGet();
        flight.succeed(answer);
        drain();
    }

    private void failed(Flight flight, Throwable error, long start) {
        long nanos = Math.max(1, ticker.nanoTime() - start);
        boolean late = error instanceof TimeoutException;
        boolean works = error instanceof ClientRefusedException;
        flights.remove(flight.key(), flight);
        breaker.onError(nanos, TimeUnit.NANOSECONDS, error);
        BackendOutcome failure = late ? BackendOutcome.TIMED_OUT : BackendOutcome.FAILED;
        observer.backendAnswered(name, works ? BackendOutcome.ANSWERED : failure, nanos);
        if (!works && lines.allows(name)) {
            LOG.warn(
                    "backend {} failed: {}",
                    name,
                    late ? "no answer within " + config.timeout().toMillis() + " ms" : text(error));
        }
        active.decrementAndGet();
        flight.fail(error);
        drain();
    }

    private static String text(Throwable error) {
        return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    }

    private void refuse(Flight flight, BackendOutcome outcome, String reason) {
        flights.remove(flight.key(), flight);
        observer.backendAnswered(name, outcome, 0);
        flight.fail(new BackendBusyException(name + ": " + reason, outcome == BackendOutcome.REFUSED_DOWN));
    }
}
