// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.internal.FailedExportException;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells in the broker's own log when spans are lost, at most once a minute, and when they are taken again. Spans wait before it in a queue that
 * drops what is too much without a word; so what goes there is counted, and not given when it would be too much. Any thread.
 */
final class ToldSpanExporter implements SpanExporter {

    private static final Logger LOG = LoggerFactory.getLogger(ToldSpanExporter.class);
    private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long NEVER = Long.MIN_VALUE;

    private final SpanExporter exporter;
    private final String url;
    private final int most;
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong tooMany = new AtomicLong();
    private long toldNanos = NEVER; // under the lock of this, as the next
    private long toldTooManyNanos = NEVER;
    private long toldTooMany;

    /**
     * Creates one.
     *
     * @param exporter sends the spans
     * @param url where to, for the log
     * @param most how many may wait in the queue
     */
    ToldSpanExporter(SpanExporter exporter, String url, int most) {
        this.exporter = exporter;
        this.url = url;
        this.most = most;
    }

    /**
     * Counts what goes to the queue.
     *
     * @param queue gives spans to this exporter, and has room for as many as may wait
     * @return what spans are to be given to
     */
    SpanProcessor behind(SpanProcessor queue) {
        return new Counted(queue);
    }

    /** {@return spans that were too many to wait, since the start} */
    long tooMany() {
        return tooMany.get();
    }

    private boolean mayWait() {
        if (waiting.incrementAndGet() <= most) {
            return true;
        }
        waiting.decrementAndGet();
        tooMany.incrementAndGet(); // told by the thread that exports, not by the one of a message
        return false;
    }

    /** Under the lock of this. */
    private long notTold() {
        long all = tooMany.get();
        long more = all - toldTooMany;
        toldTooMany = all;
        return lost.getAndSet(0) + more;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
        int count = spans.size();
        waiting.addAndGet(-count);
        CompletableResultCode result = exporter.export(spans);
        return result.whenComplete(() -> {
            if (result.isSuccess()) {
                taken();
            } else {
                lost(count, result.getFailureThrowable());
            }
        });
    }

    private synchronized void taken() {
        if (toldNanos != NEVER) {
            toldNanos = NEVER;
            LOG.info("traces are taken by {} again; {} spans were lost since the last warning", url, notTold());
            return;
        }
        long now = System.nanoTime();
        if (tooMany.get() > toldTooMany && (toldTooManyNanos == NEVER || now - toldTooManyNanos >= SILENCE_NANOS)) {
            toldTooManyNanos = now;
            LOG.warn("{} spans were lost: they come quicker than {} takes them", notTold(), url);
        }
    }

    private synchronized void lost(int count, @Nullable Throwable cause) {
        lost.addAndGet(count);
        long now = System.nanoTime();
        if (toldNanos == NEVER || now - toldNanos >= SILENCE_NANOS) {
            toldNanos = now;
            LOG.warn("{} spans could not be sent to {}: {}", notTold(), url, reason(cause));
        }
    }

    /** The causes within the exporter's own exception, which only says that something failed. */
    private static String reason(@Nullable Throwable failure) {
        List<String> causes = new ArrayList<>();
        for (Throwable cause = failure; cause != null && causes.size() < 3; cause = cause.getCause()) {
            String told = cause.getClass().getName() + (cause.getMessage() == null ? "" : ": " + cause.getMessage());
            if (!told.startsWith("io.opentelemetry.") && !causes.contains(told)) {
                causes.add(told);
            }
        }
        return causes.isEmpty() ? "it answers" + status(failure) : String.join(", ", causes);
    }

    /** The status of HTTP, where the exporter tells it in a class that is not meant for others. */
    private static String status(@Nullable Throwable failure) {
        try {
            if (failure instanceof FailedExportException.HttpExportException refused) {
                HttpResponse response = refused.getResponse();
                return response == null ? "" : " " + response.getStatusCode();
            }
        } catch (LinkageError e) {
            LOG.debug("another version of the exporter", e);
        }
        return " something else";
    }

    @Override
    public CompletableResultCode flush() {
        return exporter.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
        tellRest();
        return exporter.shutdown();
    }

    private synchronized void tellRest() {
        long more = notTold();
        if (more > 0) {
            LOG.warn("{} spans were lost since the last word of it", more);
        }
    }

    /** What is before the queue. */
    private final class Counted implements SpanProcessor {

        private final SpanProcessor queue;

        Counted(SpanProcessor queue) {
            this.queue = queue;
        }

        @Override
        public void onStart(Context parent, ReadWriteSpan span) {
            queue.onStart(parent, span);
        }

        @Override
        public boolean isStartRequired() {
            return queue.isStartRequired();
        }

        @Override
        public void onEnd(ReadableSpan span) {
            if (span.getSpanContext().isSampled() && mayWait()) { // of the others the queue takes none
                queue.onEnd(span);
            }
        }

        @Override
        public boolean isEndRequired() {
            return true;
        }

        @Override
        public CompletableResultCode shutdown() {
            return queue.shutdown();
        }

        @Override
        public CompletableResultCode forceFlush() {
            return queue.forceFlush();
        }
    }
}
