// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.thread.AnyThread;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of the rows of one batch. Answers arrive on the thread of the producer, in any order. After a failure that may pass, later rows with
 * the same topic and key are sent again too, so that the last record of a key is that of the last row. Rows without a key have no order.
 */
@AnyThread
final class BatchProgress {

    private static final String OVERTAKEN = "a row with the same key before it is sent again";

    /** Topic and key of a row: rows with the same ones stay in order. */
    private record Place(String topic, @Nullable ByteBuffer key) {}

    private final Consumer<BatchResult> outcome;

    // guarded by this
    private final @Nullable Place[] places;
    private final @Nullable SinkException[] failures;
    private final boolean[] settled;
    private int open;
    private boolean broken;

    /**
     * Begins a batch.
     *
     * @param size the number of its rows
     * @param outcome called once, when all are settled; must not block
     */
    BatchProgress(int size, Consumer<BatchResult> outcome) {
        this.outcome = outcome;
        this.places = new Place[size];
        this.failures = new SinkException[size];
        this.settled = new boolean[size];
        this.open = size;
    }

    /** Notes where a row goes, before it is sent. */
    synchronized void place(int index, ProducerRecord<byte[], byte[]> record) {
        byte[] key = record.key();
        places[index] = new Place(record.topic(), key == null ? null : ByteBuffer.wrap(key));
    }

    /** Whether no further row is to be sent: one has failed and will be sent again, or the result is cancelled. */
    synchronized boolean isBroken() {
        return broken;
    }

    /** The result is not awaited any more. */
    synchronized void cancel() {
        broken = true;
    }

    /** Settles a row: null if the cluster has it. Counts once for each row. */
    void settle(int index, @Nullable SinkException failure) {
        boolean last;
        synchronized (this) {
            last = note(index, failure);
        }
        if (last) {
            outcome.accept(result());
        }
    }

    /** Settles all rows from one on, which have not been sent. */
    void abandon(int from, SinkException failure) {
        boolean last = false;
        synchronized (this) {
            for (int i = from; i < settled.length; i++) {
                last |= note(i, failure);
            }
        }
        if (last) {
            outcome.accept(result());
        }
    }

    private boolean note(int index, @Nullable SinkException failure) {
        if (settled[index]) {
            return false;
        }
        settled[index] = true;
        failures[index] = failure;
        broken |= failure != null && failure.isRecoverable();
        open--;
        return open == 0;
    }

    private synchronized BatchResult result() {
        List<Refusal> refusals = new ArrayList<>();
        Set<Place> again = new HashSet<>();
        for (int i = 0; i < settled.length; i++) {
            SinkException failure = failures[i];
            if (failure != null) {
                refusals.add(new Refusal(i, String.valueOf(failure.getMessage()), failure.isRecoverable()));
                Place place = places[i];
                if (failure.isRecoverable() && place != null && place.key() != null) {
                    again.add(place);
                }
            } else if (again.contains(places[i])) {
                refusals.add(new Refusal(i, OVERTAKEN, true, true));
            }
        }
        return refusals.isEmpty() ? BatchResult.DONE : new BatchResult(refusals);
    }
}
