// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceLag;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.rules.sink.SourceRuns;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer: polls, publishes, and commits what the broker has, up to the first record of each partition that it does not have yet.
 * While the source is paused the consumer polls without fetching, so that it stays in its group.
 */
final class ConsumerRun implements SourceRuns.Run, ConsumerRebalanceListener {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerRun.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration PAUSE = Duration.ofMillis(5);
    private static final Duration CLOSE = Duration.ofSeconds(2);
    private static final Duration LAG = Duration.ofSeconds(1);
    private static final long OLD_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long LAST_ANSWERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The records that a run holds, as a multiple of those in flight, before it waits for the first that has no answer. */
    private static final int SPAN = 8;

    /** The broker has a record, or could not keep it. */
    private record Answer(
            TopicPartition partition, long offset, @Nullable Throwable error) {}

    private final SourceContext context;
    private final List<String> topics;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final SourceOutput out;
    private final SourceHealth health;
    private final int most;
    private final int atOnce;
    private final long mostBytes;
    private final long commitNanos;
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;
    private volatile @Nullable Consumer<byte[], byte[]> consumer;

    // on the thread
    private final PublishedOffsets offsets = new PublishedOffsets();
    private long committedNanos;
    private final SourceLag lag;
    private final LongSupplier nanoTime;
    private long flowingNanos;
    private boolean committing;
    private @Nullable KafkaException failure;

    ConsumerRun(
            SourceContext context,
            List<String> topics,
            Supplier<Consumer<byte[], byte[]>> consumers,
            SourceOutput out,
            SourceHealth health,
            LongSupplier nanoTime) {
        this.context = context;
        this.topics = topics;
        this.consumers = consumers;
        this.out = out;
        this.health = health;
        this.nanoTime = nanoTime;
        this.flowingNanos = nanoTime.getAsLong();
        this.lag = new SourceLag(out, LAG, nanoTime);
        this.most = context.config().inflight();
        this.atOnce = KafkaSource.atOnce(context);
        this.mostBytes = context.settings().bytes(KafkaSourceFactory.MAX_MEMORY);
        this.commitNanos =
                context.settings().duration(KafkaSourceFactory.COMMIT).toNanos();
    }

    // --- any thread

    @Override
    @AnyThread
    public void end() {
        ended = true;
        Consumer<byte[], byte[]> present = consumer;
        if (present != null) {
            present.wakeup();
        }
    }

    // --- on the thread

    @Override
    public void read() throws Exception {
        Thread.currentThread().setContextClassLoader(KafkaProducer.class.getClassLoader());
        try {
            Consumer<byte[], byte[]> made = consumers.get();
            consumer = made;
            try {
                made.subscribe(topics, this);
                while (!ended) {
                    pass(made);
                }
            } catch (WakeupException e) {
                LOG.debug("source {}: its consumer was woken up to end", context.name());
            } finally {
                finish(made);
            }
        } catch (KafkaException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private void pass(Consumer<byte[], byte[]> from) {
        boolean paused = isFull() || out.isPaused();
        if (paused) {
            from.pause(from.assignment());
        } else {
            from.resume(from.paused());
            flowingNanos = nanoTime.getAsLong();
        }
        for (ConsumerRecord<byte[], byte[]> record : from.poll(paused ? PAUSE : POLL)) {
            publish(record);
        }
        settle();
        commit(from);
        if (failure != null) {
            throw failure;
        }
        health.look(from);
        lag.tell(() -> lag(from));
    }

    /**
     * The records behind those that were read, as the consumer knows from its last fetches. The figure is old while it fetches nothing, because it
     * is paused or has no connection.
     */
    private OptionalLong lag(Consumer<byte[], byte[]> of) {
        if (nanoTime.getAsLong() - flowingNanos >= OLD_NANOS || !health.isWorking()) {
            return OptionalLong.empty();
        }
        long sum = 0;
        for (TopicPartition partition : of.assignment()) {
            OptionalLong known = of.currentLag(partition);
            if (known.isEmpty()) {
                return known;
            }
            sum += known.getAsLong();
        }
        return OptionalLong.of(sum);
    }

    /** A record that waits for its answer holds those behind it, which have theirs: their offsets cannot be committed. */
    private boolean isFull() {
        return offsets.open() + atOnce > most
                || offsets.held() + atOnce > SPAN * most
                || offsets.openBytes() >= mostBytes;
    }

    private void publish(ConsumerRecord<byte[], byte[]> record) {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        long offset = record.offset();
        offsets.taken(partition, offset, RecordColumns.bytes(record));
        out.publish(RecordColumns.of(record))
                .subscribe(
                        published -> answers.add(new Answer(partition, offset, null)),
                        error -> answers.add(new Answer(partition, offset, error)));
    }

    /** Takes the answers. A message that the broker could not keep is read again by the next run. */
    private void settle() {
        for (Answer answer = answers.poll(); answer != null; answer = answers.poll()) {
            if (answer.error() == null) {
                offsets.published(answer.partition(), answer.offset());
            } else if (failure == null) {
                failure = new KafkaException("the broker could not keep a message", answer.error());
            }
        }
    }

    private void commit(Consumer<byte[], byte[]> to) {
        long now = System.nanoTime();
        if (committing || now - committedNanos < commitNanos) {
            return;
        }
        if (!offsets.isChanged()) {
            health.committed();
            return;
        }
        committing = true;
        committedNanos = now;
        health.committing();
        to.commitAsync(offsets.take(), (committed, error) -> {
            committing = false;
            if (error == null) {
                health.committed();
            } else {
                offsets.changed(); // with the next one
                health.notCommitted(error);
                notCommitted(error);
            }
        });
    }

    /** Ends the run if the next attempt would fail, too. A consumer that has lost its partitions gets some again. */
    private void notCommitted(Exception error) {
        boolean passes = error instanceof RetriableException
                || error instanceof CommitFailedException
                || error instanceof RebalanceInProgressException
                || error instanceof WakeupException;
        if (passes) {
            LOG.debug("source {}: offsets are not committed", context.name(), error);
        } else if (failure == null) {
            failure = new KafkaException("offsets cannot be committed: " + error.getMessage());
        }
    }

    /** Waits a moment for the messages in flight, and commits. */
    private void finish(Consumer<byte[], byte[]> of) {
        try {
            awaitAnswers();
            Map<TopicPartition, OffsetAndMetadata> last = offsets.take();
            if (!last.isEmpty()) {
                commitNow(of, last);
            }
        } catch (KafkaException e) {
            LOG.debug("source {}: the last offsets are not committed", context.name(), e);
        } finally {
            of.close(CloseOptions.timeout(CLOSE));
        }
    }

    /** A wake-up that came after the last poll is not for this. */
    private static void commitNow(Consumer<byte[], byte[]> to, Map<TopicPartition, OffsetAndMetadata> last) {
        try {
            to.commitSync(last, CLOSE);
        } catch (WakeupException e) {
            to.commitSync(last, CLOSE);
        }
    }

    private void awaitAnswers() {
        long until = System.nanoTime() + LAST_ANSWERS_NANOS;
        while (offsets.open() > 0 && failure == null && System.nanoTime() - until < 0) {
            settle();
            LockSupport.parkNanos(PAUSE.toNanos());
        }
        settle();
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        LOG.info("source {}: reads {}", context.name(), partitions);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        Consumer<byte[], byte[]> present = consumer;
        if (present != null) {
            try {
                awaitAnswers();
                Map<TopicPartition, OffsetAndMetadata> last = offsets.take();
                offsets.changed(); // those of other partitions come with the next commit
                last.keySet().retainAll(partitions);
                if (!last.isEmpty()) {
                    commitNow(present, last);
                }
            } catch (KafkaException e) {
                LOG.debug("source {}: offsets of partitions that it loses are not committed", context.name(), e);
            }
        }
        offsets.forget(partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        offsets.forget(partitions);
    }
}
