// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Callbacks that wait until messages of a {@link PeerOutbox} have been accepted, in the order of these. */
@OnClusterLoop
final class DrainMarkers {

    private final ArrayDeque<Marker> markers = new ArrayDeque<>();

    /** A callback that waits until a message has been accepted: a queued one, or the parked one of a row. */
    private record Marker(@Nullable Outbound last, long row, Runnable task) {

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
        while (!markers.isEmpty() && markers.element().isReachedBy(message)) {
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
