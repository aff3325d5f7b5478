// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;

/**
 * A DISCONNECT of a client (MQTT 5.0, section 3.14).
 *
 * @param reason the reason code; success before MQTT 5.0
 * @param sessionExpirySeconds the new session expiry interval, or {@link #UNCHANGED}
 */
public record DisconnectPacket(ReasonCode reason, long sessionExpirySeconds) {

    /** Leaves the session expiry interval of the CONNECT in force. */
    public static final long UNCHANGED = -1;
}
