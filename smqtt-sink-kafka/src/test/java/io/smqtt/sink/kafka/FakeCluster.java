// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** A cluster that takes records, refuses some, or does not answer. */
final class FakeCluster implements KafkaClients {

    final List<MockProducer<byte[], byte[]>> producers = new CopyOnWriteArrayList<>();
    final List<ProducerRecord<byte[], byte[]>> written = new CopyOnWriteArrayList<>();
    volatile Function<ProducerRecord<byte[], byte[]>, @Nullable RuntimeException> failure = record -> null;
    volatile @Nullable RuntimeException unreachable;
    volatile boolean hangs;
    volatile @Nullable CountDownLatch blocks;

    @Override
    public Producer<byte[], byte[]> producer() {
        throwIfUnreachable();
        MockProducer<byte[], byte[]> made = new Answering();
        producers.add(made);
        return made;
    }

    @Override
    public void probe(@Nullable String topic) {
        throwIfUnreachable();
    }

    private void throwIfUnreachable() {
        RuntimeException error = unreachable;
        if (error != null) {
            throw error;
        }
    }

    /** The values of all records that were written. */
    List<String> values() {
        return written.stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private final class Answering extends MockProducer<byte[], byte[]> {

        Answering() {
            super(false, null, new ByteArraySerializer(), new ByteArraySerializer());
        }

        @Override
        public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            awaitEnd(blocks);
            Future<RecordMetadata> answer = super.send(record, callback);
            RuntimeException error = failure.apply(record);
            if (hangs) {
                return answer;
            }
            if (error == null) {
                written.add(record);
                completeNext();
            } else {
                errorNext(error);
            }
            return answer;
        }

        private static void awaitEnd(@Nullable CountDownLatch blocked) {
            try {
                if (blocked != null) {
                    blocked.await();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close(Duration timeout) {
            while (errorNext(new KafkaException("Producer is closed forcefully."))) {
                // as the real one does
            }
            super.close(timeout);
        }
    }
}
