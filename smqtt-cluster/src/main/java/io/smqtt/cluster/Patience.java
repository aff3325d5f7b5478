// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/** The retransmission timeout of a {@link PeerOutbox}: it doubles with each retransmission, and progress resets it. */
@OnClusterLoop
final class Patience {

    private static final int LONGEST = 8;

    private final long firstNanos;
    private long nanos;
    private long progressNanos;

    /**
     * Creates it.
     *
     * @param firstNanos the first wait
     */
    Patience(long firstNanos) {
        this.firstNanos = firstNanos;
        this.nanos = firstNanos;
    }

    /** The peer has received or accepted something. */
    void progress(long nowNanos) {
        progressNanos = nowNanos;
        nanos = firstNanos;
    }

    /**
     * Whether the peer has to be sent something again. Then a longer wait begins.
     *
     * @param nothingIsOpen whether no acknowledgement is missing
     */
    boolean isOver(long nowNanos, boolean nothingIsOpen) {
        boolean over = !nothingIsOpen && nowNanos - progressNanos > nanos;
        if (over) {
            nanos = Math.min(nanos * 2, LONGEST * firstNanos);
        }
        if (over || nothingIsOpen) {
            progressNanos = nowNanos;
        }
        return over;
    }
}
