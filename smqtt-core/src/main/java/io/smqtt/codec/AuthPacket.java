// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/**
 * An AUTH (MQTT 5.0, section 3.15), in either direction.
 *
 * @param reason success, continue authentication or re-authenticate
 * @param method the authentication method, or null if absent
 * @param data the authentication data, or null if absent
 */
public record AuthPacket(ReasonCode reason, @Nullable String method, byte @Nullable [] data) {

    /** Omits the data. */
    @Override
    public String toString() {
        return "AuthPacket[" + reason + ", method=" + method + ']';
    }
}
