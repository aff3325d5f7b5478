// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import org.jspecify.annotations.Nullable;

/**
 * What a client asks for when it connects.
 *
 * @param version protocol level on the wire: 3 (MQTT 3.1), 4 (3.1.1) or 5
 * @param cleanStart clean start, or clean session before MQTT 5
 * @param sessionExpiry seconds, MQTT 5 only
 * @param will sent by the broker when the connection breaks
 */
record ConnectRequest(
        Endpoint endpoint,
        int version,
        String clientId,
        boolean cleanStart,
        long sessionExpiry,
        @Nullable Message will) {

    ConnectRequest expiringAfter(long seconds) {
        return new ConnectRequest(endpoint, version, clientId, cleanStart, seconds, will);
    }

    ConnectRequest resuming() {
        return new ConnectRequest(endpoint, version, clientId, false, sessionExpiry, will);
    }

    ConnectRequest with(Message lastWill) {
        return new ConnectRequest(endpoint, version, clientId, cleanStart, sessionExpiry, lastWill);
    }

    ConnectRequest at(Endpoint other) {
        return new ConnectRequest(other, version, clientId, cleanStart, sessionExpiry, will);
    }
}
