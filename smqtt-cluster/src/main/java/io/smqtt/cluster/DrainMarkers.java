// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayDeque;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Callbacks that wait until messages of a {@link PeerOutbox} have been accepted, in the order of these. None runs while messages are sent once more that
 * the peer has refused: they may be earlier ones.
 */
@OnClusterLoop
final class DrainMarkers {

    private final BooleanSupplier sendsAgain;
    private final ArrayDeque<Marker> markers = new ArrayDeque<>();

    /**
     * Creates it without callbacks.
     *
     * @param sendsAgain whether messages are sent once more that the peer has refused
     */
    DrainMarkers(BooleanSupplier sendsAgain) {
        this.sendsAgain = sendsAgain;
    }

    /** A callback that waits until a message has been accepted: a queued one, or the parked one of a row. */
    private static final class Marker {

        private final @Nullable Outbound last;
        private final long row;
        private final Runnable task;
        private boolean reached;

        Marker(@Nullable Outbound last, long row, Runnable task) {
            this.last = last;
            this.row = row;
            this.task = task;
        }

        private boolean isReachedBy(Outbound accepted) {
            return last == accepted || (last == null && OutboundFrame.rowOf(accepted) >= row);
        }
    }

    /**
     * Adds a callback.
     *
     * @param last the message; null for a parked one
     * @param row the number of the parked one
     */
    void add(@Nullable Outbound last, long row, Runnable task) {
        markers.add(new Marker(last, row, task));
    }

    /** The peer has accepted a message. */
    void accepted(Outbound message) {
        if (markers.isEmpty()) {
            return;
        }
        for (Marker marker : markers) {
            marker.reached |= marker.isReachedBy(message);
        }
        while (!markers.isEmpty() && markers.element().reached && !sendsAgain.getAsBoolean()) {
            markers.remove().task.run();
        }
    }

    /** Runs all callbacks: nothing is left to wait for. */
    void releaseAll() {
        while (!markers.isEmpty()) {
            markers.remove().task.run();
        }
    }
}
