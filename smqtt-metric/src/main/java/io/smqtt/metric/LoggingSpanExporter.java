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
 * Logs when spans are lost, one message per minute, and when they are accepted again. The queue before it drops excess spans without a
 * log; so the exporter counts the spans that enter the queue, and drops the excess itself.
 */
@AnyThread
final class LoggingSpanExporter implements SpanExporter {

    private static final Logger LOG = LoggerFactory.getLogger(LoggingSpanExporter.class);

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
     * @param exporter exports the spans
     * @param url the receiver, for the log
     * @param most capacity of the queue
     */
    LoggingSpanExporter(SpanExporter exporter, String url, int most) {
        this.exporter = exporter;
        this.url = url;
        this.most = most;
        this.outage = new Outage(
                LOG, Level.WARN, "spans could not be sent to " + url, "spans are taken by " + url + " again");
    }

    /**
     * Counts the spans that enter the queue.
     *
     * @param queue passes spans to this exporter, with the same capacity
     * @return the processor that gets the spans
     */
    SpanProcessor behind(SpanProcessor queue) {
        return new Counted(queue);
    }

    /** {@return spans dropped because the queue was full, since the start} */
    long tooMany() {
        return tooMany.get();
    }

    private boolean mayWait() {
        if (waiting.incrementAndGet() <= most) {
            return true;
        }
        waiting.decrementAndGet();
        tooMany.incrementAndGet(); // logged by the exporting thread, not by the thread of a message
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
                    "{} spans were lost: they arrive faster than {} accepts them",
                    dropped - loggedTooMany.getAndSet(dropped),
                    url);
        }
    }

    private void lost(int count, @Nullable Throwable cause) {
        outage.failed(reason(cause) + "; spans lost since the start: " + lost.addAndGet(count));
    }

    /** The causes within the exporter's own exception, which has no useful text itself. */
    private static String reason(@Nullable Throwable failure) {
        List<String> causes = new ArrayList<>();
        for (Throwable cause = failure; cause != null && causes.size() < 3; cause = cause.getCause()) {
            String text = cause.getClass().getName() + (cause.getMessage() == null ? "" : ": " + cause.getMessage());
            if (!text.startsWith("io.opentelemetry.") && !causes.contains(text)) {
                causes.add(text);
            }
        }
        return causes.isEmpty() ? "it answers" + status(failure) : String.join(", ", causes);
    }

    /** The HTTP status, which the exporter has in an internal class. */
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
            if (span.getSpanContext().isSampled() && mayWait()) { // the queue accepts only sampled spans
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
