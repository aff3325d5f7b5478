// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterStatus;
import java.util.concurrent.atomic.LongAdder;

/** What happened between nodes. Any thread. */
final class ClusterCounters {

    private final LongAdder receivedBytes = new LongAdder();
    private final LongAdder bulkMessages = new LongAdder();
    private final LongAdder bulkFrames = new LongAdder();
    private final LongAdder bulkBytes = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder malformed = new LongAdder();
    private final LongAdder pulls = new LongAdder();
    private final LongAdder repairs = new LongAdder();

    void received(int bytes) {
        receivedBytes.add(bytes);
    }

    void sentBulk(int messages, int bytes) {
        bulkMessages.add(messages);
        bulkFrames.increment();
        bulkBytes.add(bytes);
    }

    void refused() {
        refused.increment();
    }

    void malformed() {
        malformed.increment();
    }

    void pulled() {
        pulls.increment();
    }

    void repaired() {
        repairs.increment();
    }

    /**
     * All of it at this moment.
     *
     * @param waitingBytes of frames that have come and were not handled yet
     */
    ClusterStatus.Traffic traffic(long waitingBytes) {
        return new ClusterStatus.Traffic(
                bulkMessages.sum(),
                bulkFrames.sum(),
                bulkBytes.sum(),
                receivedBytes.sum(),
                waitingBytes,
                refused.sum(),
                malformed.sum(),
                pulls.sum(),
                repairs.sum());
    }

    long receivedBytes() {
        return receivedBytes.sum();
    }

    /** Messages that were forwarded, once for each node, repetitions included. */
    long bulkMessages() {
        return bulkMessages.sum();
    }

    long bulkFrames() {
        return bulkFrames.sum();
    }

    long bulkBytes() {
        return bulkBytes.sum();
    }

    long malformedFrames() {
        return malformed.sum();
    }

    /** Frames for which there was no room. */
    long refusedFrames() {
        return refused.sum();
    }

    long pulls() {
        return pulls.sum();
    }

    /** Tables that were not what their owner said: must stay 0 in a healthy cluster. */
    long repairs() {
        return repairs.sum();
    }
}
