// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.thread.AnyThread;
import java.util.HashMap;
import java.util.Map;

/**
 * The messages of QoS 2 that were sent to each address of a bridge, and whose exchange there has not ended: packet identifiers that the session there
 * keeps until a PUBREL. In memory, at most as many for each address as the Receive Maximum there.
 */
@AnyThread
final class OpenExchanges {

    private final Map<String, Map<Integer, Long>> byAddress = new HashMap<>();
    private String last = "";

    /**
     * A connection is complete.
     *
     * @return whether the last one was to another address
     */
    synchronized boolean connected(String address) {
        boolean another = !last.isEmpty() && !last.equals(address);
        last = address;
        return another;
    }

    /** Gives what was open at an address when its last connection ended, and forgets it: their packet identifiers with those of the messages. */
    synchronized Map<Integer, Long> take(String address) {
        Map<Integer, Long> open = byAddress.remove(address);
        return open == null ? Map.of() : open;
    }

    /** Keeps what is open at an address at the end of a connection. */
    synchronized void keep(String address, Map<Integer, Long> open) {
        if (!open.isEmpty()) {
            byAddress.put(address, open);
        }
    }
}
