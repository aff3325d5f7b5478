// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.config.RuleActionConfig;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.thread.AnyThread;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The rows of some topics on their way to the sink: one batch after the other, so that their order is kept. A batch that fails is sent again before
 * any other row; one that is refused is sent row by row, so that only the rows are given up that the sink does not take. A batch without an answer in
 * time is halved, so that a slow sink advances; later batches grow again. One for which the sink throws an exception that it does not explain is halved,
 * too, until the row is found that causes it.
 */
@AnyThread
final class Lane {

    /** A batch that becomes full is not left waiting for longer. */
    private static final long POLL = TimeUnit.MILLISECONDS.toNanos(20);

    /** By this part of the largest batch the batches grow again, with each one that is full and succeeds. */
    private static final int GROWTH = 32;

    /** A batch of more than one row has no more bytes. */
    private static final long MOST_BATCH_BYTES = 16L << 20;

    /** The lanes of an action are full when they have so many bytes together, which is less than the memory of its rows. */
    private static final long FULL_BYTES = 32L << 20;

    /** A row alone for which the sink has thrown so many exceptions that it does not explain is given up. */
    static final int MOST_UNEXPECTED = 10;

    /** What a lane tells its action. */
    interface Outcomes {
        /** The sink has these rows. */
        void succeeded(List<Delivery.Item> items);

        /** A row is given up. */
        void refused(Delivery.Item item, String reason);

        /** Rows will be sent again after a failure. */
        void failed(String reason, int rows);

        /** The sink has answered. */
        void worked();

        /** The next rows can be sent, after an answer on a thread of the sink or a pause: begins them at once, or on another thread. */
        default void next(Lane lane) {
            lane.advance();
        }
    }

    private final Sink sink;
    private final RuleActionConfig config;
    private final Outcomes outcomes;
    private final int batchSize;
    private final long fullBytes;
    private final Backoff backoff;
    private final Scheduler timer = Schedulers.parallel();
    private final AtomicInteger passes = new AtomicInteger();
    private final Runnable advancing = this::advance;

    // guarded by this
    private final ArrayDeque<Delivery.Item> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private List<Delivery.Item> current = List.of();
    private long firstAttemptNanos;
    private long oldestNanos;
    private int attempt; // the number of the last one
    private int alone; // so many rows are sent one by one, because their batch was refused
    private int unexpected; // exceptions for the row that is sent alone
    private int most; // rows of the next batch
    private int left; // so many rows that wait have been in a batch that was halved: their first attempt was that one
    private boolean busy;
    private boolean closed;
    private @Nullable Disposable running;

    Lane(Sink sink, RuleActionConfig config, Outcomes outcomes) {
        this.sink = sink;
        this.config = config;
        this.outcomes = outcomes;
        this.batchSize = Math.max(1, Math.min(config.batchSize(), sink.maxBatch()));
        this.most = batchSize;
        this.fullBytes = Math.min(MOST_BATCH_BYTES, FULL_BYTES / config.lanes());
        this.backoff = new Backoff(config.minDelay(), config.maxDelay(), new SplittableRandom());
    }

    /** Adds a row, and sends it if the lane is free; false if the lane has ended. */
    boolean add(Delivery.Item item) {
        boolean isAdded = put(List.of(item));
        advance();
        return isAdded;
    }

    /** Adds rows that wait for {@link #advance}, all or none; false if the lane has ended. */
    synchronized boolean put(List<Delivery.Item> items) {
        if (closed) {
            return false;
        }
        if (waiting.isEmpty()) {
            oldestNanos = System.nanoTime();
        }
        for (Delivery.Item item : items) {
            waiting.add(item);
            waitingBytes += item.bytes();
        }
        return true;
    }

    /** Ends the lane. Returns the rows that were not settled. */
    List<Delivery.Item> close() {
        Disposable cancelled;
        List<Delivery.Item> rest;
        synchronized (this) {
            closed = true;
            rest = new ArrayList<>(current);
            rest.addAll(waiting);
            current = List.of();
            waiting.clear();
            waitingBytes = 0;
            cancelled = running;
        }
        if (cancelled != null) {
            cancelled.dispose();
        }
        return rest;
    }

    /** Sends what can be sent. An answer that comes at once leads to another pass of the same call, not to a deeper one. */
    void advance() {
        if (passes.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            try {
                Mono<Boolean> next = next();
                if (next != null) {
                    start(next);
                }
            } catch (RuntimeException
                    | Error e) { // Reactor throws some errors, such as that of a missing class, instead of signalling
                // them
                broken(e);
            }
            seen = passes.addAndGet(-seen);
        } while (seen != 0);
    }

    /** Sends the rows again after an error that the sink has thrown; an answer to that attempt is ignored. */
    private void broken(Throwable error) {
        List<Delivery.Item> batch;
        synchronized (this) {
            attempt++;
            running = null;
            batch = current;
        }
        later(batch);
        outcomes.failed(String.valueOf(error), batch.size());
    }

    /** {@link #advance} as a task: always the same one. */
    Runnable advancing() {
        return advancing;
    }

    /** Sends what can be sent: in the call of {@link #advance} that runs, otherwise where the action wants it. */
    private void again() {
        for (int running = passes.get(); running != 0; running = passes.get()) {
            if (passes.compareAndSet(running, running + 1)) {
                return;
            }
        }
        outcomes.next(this);
    }

    /** Whether an answer is to the last attempt. */
    private synchronized boolean isLast(int number) {
        return number == attempt;
    }

    private void start(Mono<Boolean> next) {
        Disposable started = next.subscribe(ignored -> {}, error -> released());
        synchronized (this) {
            if (busy) {
                running = started;
            }
            if (closed) {
                started.dispose();
            }
        }
    }

    private void released() {
        synchronized (this) {
            busy = false;
        }
        again();
    }

    /** What is to be done; null if nothing is. */
    private synchronized @Nullable Mono<Boolean> next() {
        if (busy || closed || (current.isEmpty() && waiting.isEmpty())) {
            return null;
        }
        if (current.isEmpty()) {
            Duration wait = waitForMore();
            busy = true;
            if (!wait.isZero()) {
                return Mono.delay(wait, timer).doOnNext(over -> released()).thenReturn(true);
            }
            take();
        }
        busy = true;
        return send(current, ++attempt);
    }

    private Duration waitForMore() {
        long limit = config.batchTime().toNanos();
        long waited = System.nanoTime() - oldestNanos;
        boolean full = waiting.size() >= most || waitingBytes >= fullBytes || alone > 0 || left > 0;
        return full || waited >= limit ? Duration.ZERO : Duration.ofNanos(Math.max(1, Math.min(limit - waited, POLL)));
    }

    private void take() {
        boolean isAlone = alone > 0;
        int size = isAlone ? 1 : Math.min(most, left > 0 ? left : waiting.size());
        alone = Math.max(0, alone - 1);
        List<Delivery.Item> batch = new ArrayList<>(size);
        long bytes = 0;
        for (int i = 0; i < size; i++) {
            bytes += waiting.element().bytes();
            if (i > 0 && bytes > MOST_BATCH_BYTES) {
                break;
            }
            waitingBytes -= waiting.element().bytes();
            batch.add(waiting.remove());
        }
        current = batch;
        long now = System.nanoTime();
        if (batch.size() == size) {
            oldestNanos = now; // otherwise what does not fit has waited, too
        }
        if (left == 0 || isAlone) {
            firstAttemptNanos = now;
        }
        left = isAlone ? left : Math.max(0, left - batch.size());
        unexpected = 0;
        backoff.reset();
    }

    private Mono<Boolean> send(List<Delivery.Item> batch, int number) {
        Mono<BatchResult> answer = Mono.defer(() ->
                        sink.send(batch.stream().map(Delivery.Item::record).toList()))
                .switchIfEmpty(Mono.error(() -> new SinkException("the sink has not answered", true)));
        return (sink.mayFallSilent() ? answer.timeout(config.timeout(), timer) : answer)
                .filter(result -> isLast(number))
                .doOnNext(result -> answered(batch, result))
                .onErrorResume(error -> isLast(number) ? failed(batch, error) : Mono.empty())
                .thenReturn(true);
    }

    private void answered(List<Delivery.Item> batch, BatchResult result) {
        if (result.refusals().isEmpty()) {
            outcomes.succeeded(batch);
            outcomes.worked();
            succeeded(batch.size());
            done(List.of());
            return;
        }
        Map<Integer, BatchResult.Refusal> refusals = new HashMap<>();
        result.refusals().forEach(refusal -> refusals.put(refusal.index(), refusal));
        List<Delivery.Item> again = new ArrayList<>();
        String reason = "";
        for (int i = 0; i < batch.size(); i++) {
            BatchResult.Refusal refusal = refusals.get(i);
            if (refusal == null) {
                outcomes.succeeded(List.of(batch.get(i)));
            } else if (refusal.recoverable() && !isOver()) {
                again.add(batch.get(i));
                reason = refusal.reason();
            } else if (refusal.written()) {
                outcomes.succeeded(List.of(batch.get(i)));
            } else {
                outcomes.refused(batch.get(i), refusal.reason());
            }
        }
        if (again.isEmpty()) {
            outcomes.worked();
            done(List.of());
        } else {
            outcomes.failed(reason, again.size());
            if (again.size() < batch.size()) {
                restarted();
            }
            later(again);
        }
    }

    private Mono<BatchResult> failed(List<Delivery.Item> batch, Throwable signalled) {
        Throwable error = Exceptions.unwrap(signalled);
        boolean passes = !(error instanceof SinkException known) || known.isRecoverable();
        String reason = reason(error);
        if (passes && !isOver() && !isPoison(batch, error)) {
            outcomes.failed(reason, batch.size());
            later(error instanceof TimeoutException || isUnexpected(error) ? firstHalf(batch) : batch);
        } else if (!passes && batch.size() > 1) {
            split(batch);
        } else {
            batch.forEach(item -> outcomes.refused(item, reason));
            done(List.of());
        }
        return Mono.empty();
    }

    /** Whether an exception may be a mistake of the sink with a row, and not the state of its peer. */
    private static boolean isUnexpected(Throwable error) {
        return error instanceof RuntimeException
                && !(error instanceof SinkException)
                && !(error instanceof UncheckedIOException)
                && !(error instanceof RejectedExecutionException);
    }

    private synchronized boolean isPoison(List<Delivery.Item> batch, Throwable error) {
        return isUnexpected(error) && batch.size() == 1 && ++unexpected >= MOST_UNEXPECTED;
    }

    /** The reason of a sink that has not answered in time. */
    static String noAnswer(RuleActionConfig config) {
        return "no answer within " + config.timeout().toMillis() + " ms";
    }

    private String reason(Throwable error) {
        if (error instanceof TimeoutException) {
            return noAnswer(config);
        }
        String message = error.getMessage();
        return message == null ? error.getClass().getSimpleName() : message;
    }

    private synchronized boolean isOver() {
        return !config.retryFor().isZero()
                && System.nanoTime() - firstAttemptNanos >= config.retryFor().toNanos();
    }

    private synchronized void restarted() {
        firstAttemptNanos = System.nanoTime(); // there was progress
        backoff.reset();
    }

    private synchronized void succeeded(int rows) {
        firstAttemptNanos = System.nanoTime(); // what is left of a batch has a time of its own
        if (rows >= most) {
            most = Math.min(batchSize, most + Math.max(1, batchSize / GROWTH));
        }
    }

    /** The rows of a batch that are sent again first. The others follow them. */
    private synchronized List<Delivery.Item> firstHalf(List<Delivery.Item> batch) {
        int half = Math.max(1, batch.size() / 2);
        most = half;
        if (!closed) {
            for (int i = batch.size() - 1; i >= half; i--) {
                putBack(batch.get(i));
            }
            left += batch.size() - half;
        }
        return List.copyOf(batch.subList(0, half));
    }

    private void putBack(Delivery.Item item) {
        waiting.addFirst(item);
        waitingBytes += item.bytes();
    }

    /** Puts the rows of a refused batch back, to be sent one by one. */
    private void split(List<Delivery.Item> batch) {
        synchronized (this) {
            if (!closed) {
                for (int i = batch.size() - 1; i >= 0; i--) {
                    putBack(batch.get(i));
                }
                alone += batch.size();
            }
        }
        done(List.of());
    }

    private void done(List<Delivery.Item> rest) {
        boolean hasMore;
        synchronized (this) {
            if (!closed) {
                current = rest;
            }
            busy = false;
            running = null;
            hasMore = !current.isEmpty() || !waiting.isEmpty();
        }
        if (hasMore) {
            again();
        }
    }

    private void later(List<Delivery.Item> batch) {
        Duration delay;
        synchronized (this) {
            if (closed) {
                return;
            }
            current = batch;
            delay = backoff.next();
        }
        Disposable scheduled = timer.schedule(() -> done(batch), delay.toMillis(), TimeUnit.MILLISECONDS);
        synchronized (this) {
            if (closed) {
                scheduled.dispose();
            } else {
                running = scheduled;
            }
        }
    }
}
