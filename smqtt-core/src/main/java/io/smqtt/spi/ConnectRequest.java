// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.UserProperty;
import io.smqtt.message.Will;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The content of a CONNECT, without credentials (MQTT 5.0, section 3.1).
 *
 * @param cleanStart whether an existing session ends; clean session before MQTT 5.0
 * @param sessionExpirySeconds the Session Expiry Interval, 0 to 4,294,967,295, where the maximum means no expiry; the broker's limits
 *     apply. Before MQTT 5.0 it is 0 for a clean session and the maximum otherwise
 * @param will the will, or null
 * @param userProperties the user properties of the CONNECT; changing them has no effect
 */
public record ConnectRequest(
        boolean cleanStart,
        long sessionExpirySeconds,
        @Nullable Will will,
        List<UserProperty> userProperties) {

    private static final long NEVER = 0xFFFF_FFFFL;

    /**
     * Checks the interval and copies the list.
     *
     * @throws IllegalArgumentException if the interval is out of range
     */
    public ConnectRequest {
        if (sessionExpirySeconds < 0 || sessionExpirySeconds > NEVER) {
            throw new IllegalArgumentException("a session expiry interval is 0 to 4,294,967,295 seconds");
        }
        userProperties = List.copyOf(userProperties);
    }

    /**
     * The same with another will.
     *
     * @param other the will, or null for none
     * @return a request
     */
    public ConnectRequest withWill(@Nullable Will other) {
        return new ConnectRequest(cleanStart, sessionExpirySeconds, other, userProperties);
    }

    /**
     * The same with another session.
     *
     * @param clean whether an existing session ends
     * @param expirySeconds the Session Expiry Interval
     * @return a request
     * @throws IllegalArgumentException if the interval is out of range
     */
    public ConnectRequest withSession(boolean clean, long expirySeconds) {
        return new ConnectRequest(clean, expirySeconds, will, userProperties);
    }
}
