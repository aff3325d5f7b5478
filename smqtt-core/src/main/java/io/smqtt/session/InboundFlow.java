// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The receiver's half of QoS 2 (MQTT 5.0, section 4.3.3): packet identifiers of messages that were routed and wait for
 * PUBREL. As long as one waits, a PUBLISH with the same identifier is the same message again and is not routed.
 */
public final class InboundFlow {

    private @Nullable BitSet awaitingRelease;
    private int count;

    InboundFlow() {}

    /**
     * Tells whether the message with this identifier was routed already.
     *
     * @param packetId 1 to 65,535
     * @return true until PUBREL
     */
    public boolean isAwaitingRelease(int packetId) {
        return awaitingRelease != null && awaitingRelease.get(packetId);
    }

    /**
     * Remembers a message that was routed.
     *
     * @param packetId 1 to 65,535
     */
    public void received(int packetId) {
        if (awaitingRelease == null) {
            awaitingRelease = new BitSet();
        }
        if (!awaitingRelease.get(packetId)) {
            awaitingRelease.set(packetId);
            count++;
        }
    }

    /**
     * Forgets a message at its PUBREL.
     *
     * @param packetId 1 to 65,535
     * @return false if there was none
     */
    public boolean released(int packetId) {
        if (awaitingRelease == null || !awaitingRelease.get(packetId)) {
            return false;
        }
        awaitingRelease.clear(packetId);
        if (--count == 0) {
            awaitingRelease = null;
        }
        return true;
    }

    /**
     * How many messages wait for PUBREL.
     *
     * @return messages
     */
    public int awaitingRelease() {
        return count;
    }
}
