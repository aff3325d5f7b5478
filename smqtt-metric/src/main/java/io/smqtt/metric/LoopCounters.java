// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.smqtt.thread.AnyThread;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A fixed number of counters that every event loop adds to in an array of its own: an addition is a load, an add and a
 * store without a lock prefix, and shares no cache line with another loop. Other threads, which are rare here, add to one atomic array.
 *
 * <p>A reader may miss recent additions, and never sees a counter decrease. Arrays live as long as these counters, so that no count is
 * lost when a thread ends.
 */
@AnyThread
final class LoopCounters {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    /** Longs before and after the counters, so that neighbours on the heap share no cache line with them. */
    private static final int PADDING = 16;

    private final int size;
    private final List<long[]> arrays = new CopyOnWriteArrayList<>();
    private final AtomicLongArray others;
    private final FastThreadLocal<long[]> own = new FastThreadLocal<>() {
        @Override
        protected long[] initialValue() {
            long[] fresh = new long[PADDING + size + PADDING];
            arrays.add(fresh);
            return fresh;
        }
    };

    LoopCounters(int size) {
        this.size = size;
        others = new AtomicLongArray(size);
    }

    void add(int counter, long amount) {
        if (Thread.currentThread() instanceof FastThreadLocalThread) {
            bump(own.get(), counter, amount);
        } else {
            others.addAndGet(counter, amount);
        }
    }

    void add(int first, long firstAmount, int second, long secondAmount) {
        if (Thread.currentThread() instanceof FastThreadLocalThread) {
            long[] cells = own.get();
            bump(cells, first, firstAmount);
            bump(cells, second, secondAmount);
        } else {
            others.addAndGet(first, firstAmount);
            others.addAndGet(second, secondAmount);
        }
    }

    private static void bump(long[] cells, int counter, long amount) {
        int index = PADDING + counter;
        CELL.setOpaque(cells, index, cells[index] + amount); // this thread is the only writer
    }

    /** Returns the sum of a counter over all threads. */
    long sum(int counter) {
        long sum = others.get(counter);
        for (long[] cells : arrays) {
            sum += (long) CELL.getOpaque(cells, PADDING + counter);
        }
        return sum;
    }

    /** Returns the sum of consecutive counters over all threads. */
    long sum(int first, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += sum(first + i);
        }
        return sum;
    }
}
