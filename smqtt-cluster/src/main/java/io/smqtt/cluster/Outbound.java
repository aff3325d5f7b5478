// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.ByteWriter;
import io.smqtt.spi.BrokerObserver;

/**
 * One or several messages to one peer, with consecutive numbers. Owned by the publishers' event loop until it is queued, after that by the
 * cluster's loop.
 */
abstract sealed class Outbound permits OutboundMessage, OutboundRun {

    private long sequence;
    private String homes = Homes.NONE;

    /** The number of messages, at least one. */
    abstract int count();

    /** The number of deliveries of the router: one for subscribers that are not in a shared group, and one for each group. */
    abstract int deliveries();

    /** Their approximate size in bytes. */
    abstract int bytes();

    /** Whether no publisher waits for them. */
    abstract boolean isAtMostOnce();

    /** Whether they go to subscribers that are not in a shared group. */
    abstract boolean isToAll();

    /** Whether they are kept for the return of an unreachable peer: above QoS 0, and for a session that outlives its connection. */
    abstract boolean isParked();

    /** Releases the publisher's acknowledgement. Further calls have no effect. */
    abstract void settle(boolean success);

    /** The peer could not store a message. */
    void refuse() {
        // nothing: no publisher waits for a run
    }

    /** A peer may have a message already: from now on its subscribers compare it with what they have taken, at QoS 2. */
    void mayHaveCome() {
        // nothing: a run is of QoS 0
    }

    /** The peer has accepted them. */
    abstract void countDelivered(BrokerObserver observer);

    /**
     * Writes them as blocks of a batch.
     *
     * @param nowNanos the broker's monotonic clock
     */
    abstract void writeTo(ByteWriter target, long nowNanos);

    /** The nodes whose adopted sessions on the peer are to get them, see {@link Homes}. */
    final String homes() {
        return homes;
    }

    /** Sets the nodes whose adopted sessions on the peer are to get them. Before they are sent, or when they are sent as others. */
    final void homes(String nodes) {
        homes = nodes;
    }

    /** The sequence number of the first one. */
    final long sequence() {
        return sequence;
    }

    /** The sequence number of the last one. */
    final long lastSequence() {
        return sequence + count() - 1;
    }

    /** Assigns sequence numbers, beginning with this one. */
    final void number(long first) {
        sequence = first;
    }
}
