// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.net.InetSocketAddress;

/** Observes the connections of a {@link JournalClient}, on its thread, and says which ends of them are expected. */
interface ConnectionWatch {

    /** A client that may be refused as unavailable (0x88). */
    ConnectionWatch STRICT = new ConnectionWatch() {};

    /**
     * The broker has accepted the client.
     *
     * @param address of the broker
     * @param found whether the session of the client was there; true for its first connection
     */
    default void connected(InetSocketAddress address, boolean found) {}

    /** The connection has ended, or has not begun. */
    default void ended() {}

    /**
     * Whether the client comes again after it was refused.
     *
     * @param reasonCode of the CONNACK
     */
    default boolean comesAgain(int reasonCode) {
        return reasonCode == 0x88;
    }

    /** Whether the client comes again after nothing has come for a minute. */
    default boolean endsInSilence() {
        return false;
    }
}
