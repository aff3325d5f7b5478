// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.SourceOutput;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Tells operators whether a consumer reads. One that has no connection, whose topic is missing, or whose offsets are not committed does not fail: it
 * tries again without a word. For the thread of the consumer.
 */
final class SourceHealth {

    private static final long WORKING_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long FAILING_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long UNCOMMITTED_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Duration ANSWER = Duration.ofSeconds(2);

    private final List<String> topics;
    private final SourceOutput out;
    private final LongSupplier nanoTime;
    private long nextNanos;
    private boolean isWorking = true;
    private boolean uncommitted;
    private long uncommittedNanos;
    private String commitError = "";

    /**
     * Creates the health of a run that begins now: it has some time for its first connection.
     *
     * @param nanoTime a clock, in nanoseconds
     */
    SourceHealth(List<String> topics, SourceOutput out, LongSupplier nanoTime) {
        this.topics = topics;
        this.out = out;
        this.nanoTime = nanoTime;
        this.nextNanos = nanoTime.getAsLong() + WORKING_NANOS;
    }

    /** Offsets are on their way to the cluster. */
    void committing() {
        if (!uncommitted) {
            uncommitted = true;
            uncommittedNanos = nanoTime.getAsLong();
            commitError = "no answer";
        }
    }

    /** The cluster has the offsets, or there are none for it. */
    void committed() {
        uncommitted = false;
    }

    /** The cluster did not take offsets. They come again with the next ones. */
    void notCommitted(Exception error) {
        Throwable cause = error instanceof RetriableCommitFailedException ? error.getCause() : null;
        commitError = String.valueOf((cause == null ? error : cause).getMessage());
    }

    /**
     * Looks at the consumer, if it is time. Blocks for some seconds at most, while a topic is not known.
     *
     * @throws org.apache.kafka.common.KafkaException if the cluster refuses a topic, or the consumer is woken up
     */
    void look(Consumer<byte[], byte[]> at) {
        if (nanoTime.getAsLong() - nextNanos < 0) {
            return;
        }
        String trouble = trouble(at);
        isWorking = trouble == null;
        if (trouble == null) {
            out.working();
        } else {
            out.failing(trouble);
        }
        nextNanos = nanoTime.getAsLong() + (trouble == null ? WORKING_NANOS : FAILING_NANOS);
    }

    /** Whether the last look found no trouble. */
    boolean isWorking() {
        return isWorking;
    }

    private @Nullable String trouble(Consumer<byte[], byte[]> of) {
        if (connections(of) <= 0) {
            return "no broker of Kafka is connected";
        }
        if (uncommitted && nanoTime.getAsLong() - uncommittedNanos >= UNCOMMITTED_NANOS) {
            return "offsets cannot be committed: " + commitError;
        }
        for (String topic : topics) {
            try {
                if (of.partitionsFor(topic, ANSWER).isEmpty()) { // what it knows is not asked for
                    return "the cluster has no topic " + topic;
                }
            } catch (TimeoutException e) {
                return "the cluster does not answer whether it has the topic " + topic;
            }
        }
        return null;
    }

    private static double connections(Consumer<byte[], byte[]> of) {
        return of.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("connection-count"))
                .mapToDouble(
                        metric -> metric.getValue().metricValue() instanceof Number number ? number.doubleValue() : 0)
                .max()
                .orElse(1);
    }
}
