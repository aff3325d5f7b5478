// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.thread.AnyThread;
import io.smqtt.trace.TraceEvent;
import io.smqtt.trace.TraceListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Records the events of one trace: event loops add them to a bounded queue, and one thread writes them to the file. An event that has no room
 * is counted, and a line says how many are missing.
 */
final class TraceRecorder implements TraceListener, AutoCloseable {

    /** Maximum number of events that wait to be written. */
    static final int MAX_WAITING = 10_000;

    private static final long LAST_LINE_BYTES = 512;

    private final TraceLine line;
    private final boolean pings;
    private final TraceBudget budget;
    private final FileChannel file;
    private final long maxBytes;
    private final Queue<TraceEvent> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final AtomicLong missed = new AtomicLong();
    private volatile boolean full;

    /**
     * Creates a recorder.
     *
     * @param line writes events as lines
     * @param budget limits the memory of waiting events
     * @param file the file, to be appended to; closed by this
     * @param maxBytes the maximum size of the file
     */
    TraceRecorder(TraceLine line, TraceBudget budget, FileChannel file, long maxBytes) {
        this.line = line;
        this.pings = line.trace().pings();
        this.budget = budget;
        this.file = file;
        this.maxBytes = maxBytes;
    }

    @Override
    @AnyThread
    public void traced(TraceEvent event) {
        if (full || (!pings && isPing(event.kind()))) {
            return;
        }
        int bytes = TraceBudget.bytesOf(event);
        if (waitingCount.incrementAndGet() > MAX_WAITING) {
            waitingCount.decrementAndGet();
            missed.incrementAndGet();
        } else if (budget.take(bytes)) {
            waiting.add(event);
        } else {
            waitingCount.decrementAndGet();
            missed.incrementAndGet();
        }
    }

    private static boolean isPing(TraceEvent.Kind kind) {
        return kind == TraceEvent.Kind.PINGREQ_RECEIVED || kind == TraceEvent.Kind.PINGRESP_SENT;
    }

    /** Writes all events that wait. On the thread of the traces. */
    void write() throws IOException {
        for (TraceEvent event = waiting.poll(); event != null; event = waiting.poll()) {
            waitingCount.decrementAndGet();
            budget.giveBack(TraceBudget.bytesOf(event));
            if (!full) {
                append(line.of(event));
            }
        }
        long missing = missed.getAndSet(0);
        if (missing > 0 && !full) {
            append(line.missing(System.currentTimeMillis(), missing, "too many events at a time"));
        }
    }

    private void append(byte[] bytes) throws IOException {
        byte[] next = bytes;
        if (file.size() + bytes.length > maxBytes - LAST_LINE_BYTES) {
            full = true;
            next = line.missing(System.currentTimeMillis(), 1, "the file is full, the trace has ended");
        }
        ByteBuffer rest = ByteBuffer.wrap(next);
        while (rest.hasRemaining()) {
            file.write(rest);
        }
    }

    /** Ends the recording: later events are ignored. */
    void end() {
        full = true;
    }

    /** Closes the file. What still waits, because it could not be written, is given back to the budget. */
    @Override
    public void close() throws IOException {
        full = true;
        for (TraceEvent event = waiting.poll(); event != null; event = waiting.poll()) {
            waitingCount.decrementAndGet();
            budget.giveBack(TraceBudget.bytesOf(event));
        }
        file.close();
    }
}
