// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Writes rows as records of Kafka. A thread of its own hands records to the producer, because that may wait for the cluster; a row is settled by the
 * callback of the producer. All lanes share the thread: a batch whose turn comes too late for its timeout is not sent, see {@link AttemptTimes}.
 */
@AnyThread
final class KafkaSink implements Sink {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaSink.class);

    private final KafkaClients clients;
    private final RecordTemplate template;
    private final @Nullable String topic;
    private final KafkaThread thread;
    private final long handNanos;
    private volatile boolean closed;
    /** Rows that had no answer in time, as long as their lanes have them: a batch with one of them is sent record by record. */
    private final Set<SinkRecord> expired = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private volatile @Nullable Producer<byte[], byte[]> producer; // changed on the thread, and by close

    KafkaSink(SinkContext context, KafkaClients clients) {
        this.clients = clients;
        this.template = new RecordTemplate(context);
        this.topic = template.fixedTopic();
        this.handNanos = AttemptTimes.of(context).hand().toNanos();
        this.thread = new KafkaThread("smqtt-rule-" + context.rule() + '-' + context.action());
    }

    @Override
    public Mono<BatchResult> send(List<SinkRecord> batch) {
        return Mono.create(result -> {
            long beganNanos = System.nanoTime(); // when the action's timeout begins
            BatchProgress progress = new BatchProgress(batch.size(), result::success);
            result.onCancel(progress::cancel);
            try {
                thread.execute(() -> hand(batch, progress, beganNanos));
            } catch (RejectedExecutionException e) {
                result.error(isClosed());
            }
        });
    }

    private static SinkException isClosed() {
        return new SinkException("the sink is closed", true);
    }

    // --- on the thread

    private void hand(List<SinkRecord> batch, BatchProgress progress, long beganNanos) {
        Producer<byte[], byte[]> present;
        try {
            present = present();
        } catch (RuntimeException e) {
            progress.abandon(0, new SinkException(String.valueOf(root(e).getMessage()), true));
            return;
        }
        boolean oneByOne = !expired.isEmpty() && batch.stream().anyMatch(expired::contains);
        for (int i = 0; i < batch.size(); i++) {
            if (progress.isBroken()) {
                progress.abandon(i, new SinkException("not sent after the failure of a row before it", true));
                return;
            }
            if (System.nanoTime() - beganNanos > handNanos) {
                progress.abandon(i, new SinkException("not sent in time, the cluster is slow", true));
                return;
            }
            Future<?> answer = hand(present, batch.get(i), i, progress);
            if (oneByOne && answer != null) {
                await(answer, beganNanos + handNanos - System.nanoTime());
            }
        }
    }

    /**
     * Waits for the answer of a record before the next one is sent. The producer splits a request that the cluster finds too large, but may never
     * separate a record that is too large from small ones, until all of them have expired.
     */
    private static void await(Future<?> answer, long atMostNanos) {
        try {
            answer.get(Math.max(0, atMostNanos), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug("a record is not taken", e); // its callback settles the row
        }
    }

    private Producer<byte[], byte[]> present() {
        if (closed) {
            throw isClosed();
        }
        Producer<byte[], byte[]> present = producer;
        if (present == null) {
            present = clients.producer();
            producer = present;
            if (closed) { // meanwhile
                discard(present);
                throw isClosed();
            }
        }
        return present;
    }

    /** Kafka hides the cause of a producer that cannot be made. */
    private static Throwable root(RuntimeException error) {
        return error instanceof KafkaException && error.getCause() != null ? error.getCause() : error;
    }

    private @Nullable Future<?> hand(
            Producer<byte[], byte[]> present, SinkRecord row, int index, BatchProgress progress) {
        try {
            ProducerRecord<byte[], byte[]> record = template.record(row.row());
            progress.place(index, record);
            return present.send(record, (metadata, error) -> answered(present, row, index, error, progress));
        } catch (SinkException e) {
            progress.settle(index, e);
        } catch (RuntimeException e) {
            answered(present, row, index, e, progress);
        }
        return null;
    }

    // --- on the thread of the producer, or this one

    private void answered(
            Producer<byte[], byte[]> by, SinkRecord row, int index, @Nullable Exception error, BatchProgress progress) {
        if (error instanceof org.apache.kafka.common.errors.TimeoutException) {
            expired.add(row);
        } else if (!expired.isEmpty()) {
            expired.remove(row);
        }
        if (error == null) {
            progress.settle(index, null);
            return;
        }
        if (KafkaFailure.endsProducer(error) && !closed) {
            try {
                thread.execute(() -> discard(by));
            } catch (RejectedExecutionException e) {
                LOG.debug("the producer is closed with its sink", e);
            }
        }
        progress.settle(index, KafkaFailure.of(error, topic == null));
    }

    private void discard(Producer<byte[], byte[]> former) {
        if (producer == former) {
            producer = null;
            former.close(Duration.ZERO);
        }
    }

    @Override
    public Mono<Void> check() {
        return Mono.<Void>fromRunnable(() -> {
                    try {
                        clients.probe(topic);
                    } catch (RuntimeException e) {
                        throw KafkaFailure.of(root(e), false);
                    }
                })
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** Rows without an answer have failed: their messages stay in the queue of the action. */
    @Override
    public void close() {
        closed = true;
        Producer<byte[], byte[]> present = producer;
        if (present != null) {
            present.close(Duration.ZERO); // ends a wait of the thread, too
        }
        thread.close().forEach(Runnable::run); // each fails: the sink is closed
    }
}
