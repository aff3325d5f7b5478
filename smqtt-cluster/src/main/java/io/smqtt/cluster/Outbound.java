// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.BrokerObserver;

/**
 * One message or several on their way to one peer, numbered one after the other. Belongs to the publishers' event loop until
 * it is queued, to the cluster's loop from then on.
 */
abstract sealed class Outbound permits OutboundMessage, OutboundRun {

    private long sequence;

    /** How many messages these are, at least one. */
    abstract int count();

    /** How many deliveries of the router these are: one for those who do not share, and one for each group. */
    abstract int deliveries();

    /** About what they hold. */
    abstract int bytes();

    /** Tells whether nobody waits for them, and nothing of them is kept for a peer that is gone. */
    abstract boolean isAtMostOnce();

    /** Tells whether they go to those who do not share. */
    abstract boolean isToAll();

    /** Lets the publisher go. Can be called again, to no effect. */
    abstract void settle(boolean success);

    /** The peer has taken them over. */
    abstract void countDelivered(BrokerObserver observer);

    /**
     * Writes them as blocks of a batch.
     *
     * @param nowNanos the broker's monotonic clock
     */
    abstract void writeTo(FrameWriter target, long nowNanos);

    /** The number of the first one. */
    final long sequence() {
        return sequence;
    }

    /** The number of the last one. */
    final long lastSequence() {
        return sequence + count() - 1;
    }

    /** Numbers them, this one being the first. */
    final void number(long first) {
        sequence = first;
    }
}
