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
import io.smqtt.log.LogLimiter;
import io.smqtt.log.Outage;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs when spans are lost, one message per minute, and when they are taken again. Spans wait before it in a queue that drops
 * the excess without a log; so the exporter counts what goes there, and drops the excess itself.
 */
@AnyThread
final class ToldSpanExporter implements SpanExporter {

    private static final Logger LOG = LoggerFactory.getLogger(ToldSpanExporter.class);

    private final SpanExporter exporter;
    private final String url;
    private final int most;
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong tooMany = new AtomicLong();
    private final AtomicLong loggedTooMany = new AtomicLong();
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private final Outage outage;

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
        this.outage = new Outage(
                LOG, Level.WARN, "spans could not be sent to " + url, "spans are taken by " + url + " again");
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
        tooMany.incrementAndGet(); // logged by the thread that exports, not by the one of a message
        return false;
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

    private void taken() {
        outage.recovered();
        long dropped = tooMany.get();
        if (dropped > loggedTooMany.get() && lines.allows(url)) {
            LOG.warn(
                    "{} spans were lost: they come quicker than {} takes them",
                    dropped - loggedTooMany.getAndSet(dropped),
                    url);
        }
    }

    private void lost(int count, @Nullable Throwable cause) {
        outage.failed(reason(cause) + "; spans lost since the start: " + lost.addAndGet(count));
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
        long all = lost.get() + tooMany.get();
        if (all > 0) {
            LOG.warn("spans lost since the start: {}", all);
        }
        return exporter.shutdown();
    }

    /** Counts spans before the exporter's queue. */
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
