// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The messages that are in a {@link PeerOutbox}, in number and bytes, and its limits. Not those that are parked, here or for another node. */
@AnyThread
final class OutboxLoad {

    private final ClusterSettings settings;
    private final PeerPressure pressure;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    /**
     * Creates it without messages.
     *
     * @param pressure slows publishers
     */
    OutboxLoad(ClusterSettings settings, PeerPressure pressure) {
        this.settings = settings;
        this.pressure = pressure;
    }

    int messages() {
        return count.get();
    }

    long bytes() {
        return bytes.get();
    }

    void add(int messages, long held) {
        count.addAndGet(messages); // one update for all, because all loops share these counters
        bytes.addAndGet(held);
    }

    void forget(Outbound message) {
        add(-message.count(), -message.bytes());
    }

    /** Whether the peer is slow. */
    boolean isSlow() {
        return pressure.isSlow();
    }

    /** Whether more messages would fill a part of the queue. */
    boolean isFull(int more, long moreBytes, int part) {
        return count.get() + more >= settings.queueMessages() / part
                || bytes.get() + moreBytes >= settings.queueBytes() / part;
    }

    /**
     * Whether the publisher of a message waits until it is accepted, because it cannot be refused. Such messages may fill the queue once more
     * above its limit.
     */
    boolean isHeldBack(Outbound message, int more, long moreBytes) {
        return message instanceof OutboundMessage one
                && !one.isAtMostOnce()
                && count.get() + more < 2 * settings.queueMessages()
                && bytes.get() + moreBytes < 2L * settings.queueBytes()
                && one.ticket().waitsForRoom();
    }

    /** The peer has accepted messages. */
    @OnClusterLoop
    void accepted(Outbound done) {
        pressure.accepted(Math.max(
                (double) done.count() / settings.queueMessages(), (double) done.bytes() / settings.queueBytes()));
    }

    @OnClusterLoop
    void adjust(boolean reachable) {
        pressure.adjust(reachable, isBeyond(2), isBeyond(4));
    }

    @OnClusterLoop
    void tick() {
        pressure.tick(isBeyond(4));
    }

    private boolean isBeyond(int part) {
        return count.get() > settings.queueMessages() / part || bytes.get() > settings.queueBytes() / part;
    }
}
