// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;
import java.util.BitSet;

/** Packet identifiers that no message of a window has, for requests of the session's own client. */
@OnEventLoop
final class SpareIdentifiers {

    private SpareIdentifiers() {}

    /**
     * Finds those that the next messages get last. Takes time for each message in flight.
     *
     * @param count the number of identifiers
     * @return the identifiers; fewer if so many messages are in flight
     */
    static int[] of(InFlightWindow window, int count) {
        BitSet used = new BitSet();
        used.set(0);
        for (long sequence = window.head(); sequence < window.tail(); sequence = window.from(sequence + 1)) {
            if (window.holds(sequence)) {
                used.set(InFlightWindow.packetId(sequence));
            }
        }
        int[] spare = new int[Math.min(count, InFlightWindow.IDENTIFIERS + 1 - used.cardinality())];
        int id = InFlightWindow.packetId(window.tail());
        for (int i = 0; i < spare.length; i++) {
            id = before(id, used);
            spare[i] = id;
        }
        return spare;
    }

    /** The nearest identifier below another one that is not used; they wrap around. */
    private static int before(int id, BitSet used) {
        int below = used.previousClearBit(id - 1);
        return below > 0 ? below : used.previousClearBit(InFlightWindow.IDENTIFIERS);
    }
}
