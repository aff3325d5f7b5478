// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Spans that are too many to wait. */
class LoggingSpanExporterTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MOST = 64;
    private static final int MANY = 10_000;

    /** Each is sent or counted: the queue drops none of its own. */
    @Test
    void whatIsTooMuchIsCounted() {
        CompletableResultCode answer = new CompletableResultCode();
        AtomicInteger sent = new AtomicInteger();
        LoggingSpanExporter told = new LoggingSpanExporter(exporter(sent, answer), "nowhere", MOST);
        SdkTracerProvider provider = SdkTracerProvider.builder()
                .addSpanProcessor(told.behind(BatchSpanProcessor.builder(told)
                        .setMaxQueueSize(MOST)
                        .setMaxExportBatchSize(MOST)
                        .setExporterTimeout(PATIENCE)
                        .build()))
                .build();
        Tracer tracer = provider.get("test");

        end(tracer, MOST);
        assertThat(told.tooMany()).isZero();
        end(tracer, MANY); // while the first ones are not answered
        assertThat(told.tooMany()).isBetween((long) MANY - 2 * MOST, (long) MANY);

        answer.succeed();
        flush(provider);
        assertThat(sent.get() + told.tooMany()).isEqualTo(MOST + MANY);

        long before = told.tooMany();
        end(tracer, MOST); // those that left wait no longer
        flush(provider);
        assertThat(told.tooMany()).isEqualTo(before);
        provider.close();
    }

    private static void flush(SdkTracerProvider provider) {
        assertThat(provider.forceFlush()
                        .join(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                        .isSuccess())
                .isTrue();
    }

    private static void end(Tracer tracer, int count) {
        for (int i = 0; i < count; i++) {
            tracer.spanBuilder("x").startSpan().end();
        }
    }

    private static SpanExporter exporter(AtomicInteger sent, CompletableResultCode answer) {
        return new SpanExporter() {

            @Override
            public CompletableResultCode export(Collection<SpanData> spans) {
                sent.addAndGet(spans.size());
                return answer;
            }

            @Override
            public CompletableResultCode flush() {
                return CompletableResultCode.ofSuccess();
            }

            @Override
            public CompletableResultCode shutdown() {
                return CompletableResultCode.ofSuccess();
            }
        };
    }
}
