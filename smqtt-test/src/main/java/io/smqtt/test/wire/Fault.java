// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import java.time.Duration;

/** A fault that is applied to a packet. */
public sealed interface Fault {

    /** The packet does not arrive; those behind it do, as no network would have it, but as a peer that forgets a packet looks like. */
    record Drop() implements Fault {}

    /**
     * The packet arrives later, and all behind it in the same direction too.
     *
     * @param by how much, in real time
     */
    record Delay(Duration by) implements Fault {

        /** Checks the time. */
        public Delay {
            require(!by.isNegative(), "a delay is not negative: " + by);
        }
    }

    /**
     * The packet arrives more than once.
     *
     * @param extra how often beyond the first time, at least 1
     */
    record Duplicate(int extra) implements Fault {

        /** Checks the count. */
        public Duplicate {
            require(extra >= 1, "one more at least: " + extra);
        }
    }

    /**
     * The packet arrives after others that were sent later. It is held back until those have passed.
     *
     * @param places how many later packets of the same direction overtake it, at least 1
     */
    record Reorder(int places) implements Fault {

        /** Checks the count. */
        public Reorder {
            require(places >= 1, "one place at least: " + places);
        }
    }

    /**
     * The connection is reset when part of the packet has arrived.
     *
     * @param afterBytes how many bytes of the packet arrive; 0 for none
     */
    record Cut(int afterBytes) implements Fault {

        /** Checks the count. */
        public Cut {
            require(afterBytes >= 0, "no fewer than none: " + afterBytes);
        }
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
