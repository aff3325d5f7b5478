// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.thread.AnyThread;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counters of the traffic between nodes. */
@AnyThread
final class ClusterCounters {

    private final LongAdder receivedBytes = new LongAdder();
    private final LongAdder bulkMessages = new LongAdder();
    private final LongAdder bulkFrames = new LongAdder();
    private final LongAdder bulkBytes = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder malformed = new LongAdder();
    private final LongAdder pulls = new LongAdder();
    private final LongAdder repairs = new LongAdder();
    private final Map<Refusal, LongAdder> refusedConnections = new EnumMap<>(Refusal.class);

    ClusterCounters() {
        for (Refusal reason : Refusal.values()) {
            refusedConnections.put(reason, new LongAdder());
        }
    }

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

    void refusedConnection(Refusal reason) {
        LongAdder counter = refusedConnections.get(reason);
        if (counter != null) {
            counter.increment();
        }
    }

    void pulled() {
        pulls.increment();
    }

    void repaired() {
        repairs.increment();
    }

    /**
     * Returns the current values.
     *
     * @param waitingBytes bytes of received frames that are not yet handled
     */
    ClusterStatus.Traffic traffic(long waitingBytes) {
        Map<Refusal, Long> connections = new EnumMap<>(Refusal.class);
        refusedConnections.forEach((reason, count) -> connections.put(reason, count.sum()));
        return new ClusterStatus.Traffic(
                bulkMessages.sum(),
                bulkFrames.sum(),
                bulkBytes.sum(),
                receivedBytes.sum(),
                waitingBytes,
                refused.sum(),
                malformed.sum(),
                pulls.sum(),
                repairs.sum(),
                connections);
    }

    long receivedBytes() {
        return receivedBytes.sum();
    }

    /** Forwarded messages, once for each node, repetitions included. */
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

    /** Frames dropped because the gate was full. */
    long refusedFrames() {
        return refused.sum();
    }

    long pulls() {
        return pulls.sum();
    }

    /** Route tables that differed from the owner's digest: must stay 0 in a healthy cluster. */
    long repairs() {
        return repairs.sum();
    }
}
