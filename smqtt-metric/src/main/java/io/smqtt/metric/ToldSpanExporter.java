// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.opentelemetry.exporter.internal.FailedExportException;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells in the broker's own log when spans are lost, at most once a minute, and when they are taken again. Any thread. */
final class ToldSpanExporter implements SpanExporter {

    private static final Logger LOG = LoggerFactory.getLogger(ToldSpanExporter.class);
    private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long NEVER = Long.MIN_VALUE;

    private final SpanExporter exporter;
    private final String url;
    private final AtomicLong lost = new AtomicLong();
    private long toldNanos = NEVER; // under the lock of this

    ToldSpanExporter(SpanExporter exporter, String url) {
        this.exporter = exporter;
        this.url = url;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
        int count = spans.size();
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
            LOG.info("traces are taken by {} again; {} spans were lost since the last warning", url, lost.getAndSet(0));
        }
    }

    private synchronized void lost(int count, @Nullable Throwable cause) {
        lost.addAndGet(count);
        long now = System.nanoTime();
        if (toldNanos == NEVER || now - toldNanos >= SILENCE_NANOS) {
            toldNanos = now;
            LOG.warn("{} spans could not be sent to {}: {}", lost.getAndSet(0), url, reason(cause));
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
        return exporter.shutdown();
    }
}
