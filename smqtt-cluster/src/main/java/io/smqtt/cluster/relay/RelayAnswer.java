// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import org.jspecify.annotations.Nullable;

/** The answer of a node to a front node, one byte, before the first byte of the client. */
enum RelayAnswer {
    /** The node serves the client: its bytes may follow. */
    TAKEN,
    /** The node has too many relayed connections, or is overloaded. */
    BUSY,
    /** The node stops, or its health check says that it is not ready. */
    NOT_READY;

    /** The answer of a byte; null if it is none. */
    static @Nullable RelayAnswer of(int code) {
        RelayAnswer[] all = values();
        return code >= 0 && code < all.length ? all[code] : null;
    }
}
