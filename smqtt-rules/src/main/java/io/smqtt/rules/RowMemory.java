// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.thread.AnyThread;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

/**
 * The memory of the rows that an action has at the same time. When it is used up, further messages wait before they are evaluated, in their order. One
 * evaluation on each thread may exceed it.
 *
 * @param <T> messages
 */
@AnyThread
final class RowMemory<T> {

    private final long mostBytes;
    private final BiConsumer<RuleThreads.Worker, T> evaluation;
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean closed;
    private final AtomicInteger parkedCount = new AtomicInteger();
    private final Map<RuleThreads.Worker, Queue<T>> parked = new ConcurrentHashMap<>();

    /**
     * Creates the memory of one action.
     *
     * @param mostBytes the limit
     * @param evaluation evaluates a message, on its thread
     */
    RowMemory(long mostBytes, BiConsumer<RuleThreads.Worker, T> evaluation) {
        this.mostBytes = mostBytes;
        this.evaluation = evaluation;
    }

    /** Evaluates a message, or lets it wait. On the thread of its topic. */
    void evaluate(RuleThreads.Worker worker, T message) {
        if (!isFull() && (parkedCount.get() == 0 || !hasParked(worker))) {
            evaluation.accept(worker, message);
            return;
        }
        parked.computeIfAbsent(worker, first -> new ArrayDeque<>()).add(message);
        parkedCount.incrementAndGet();
        if (!isFull()) { // the last row has left in the meantime
            RuleThreads.execute(worker, this::resume);
        }
    }

    private boolean hasParked(RuleThreads.Worker worker) {
        Queue<T> waiting = parked.get(worker);
        return waiting != null && !waiting.isEmpty();
    }

    /** Lets all messages that wait be evaluated, whatever rows there are: the action has ended, and counts them only. */
    void close() {
        closed = true;
        parked.keySet().forEach(worker -> RuleThreads.execute(worker, this::resume));
    }

    private boolean isFull() {
        return !closed && bytes.get() >= mostBytes;
    }

    /** Adds rows that were made. */
    void add(long more) {
        bytes.addAndGet(more);
    }

    /** Frees the memory of rows that are settled. */
    void free(long less) {
        if (bytes.addAndGet(-less) < mostBytes && parkedCount.get() > 0) {
            parked.keySet().forEach(worker -> RuleThreads.execute(worker, this::resume));
        }
    }

    private void resume(RuleThreads.Worker worker) {
        Queue<T> waiting = parked.get(worker);
        while (waiting != null && !waiting.isEmpty() && !isFull()) {
            parkedCount.decrementAndGet();
            T message = waiting.remove();
            boolean isEvaluated = false;
            try {
                evaluation.accept(worker, message);
                isEvaluated = true;
            } finally {
                if (!isEvaluated) { // those behind it must not wait for a row that is never made
                    RuleThreads.execute(worker, this::resume);
                }
            }
        }
    }
}
