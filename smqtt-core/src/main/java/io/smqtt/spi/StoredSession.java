// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.Will;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The header of a stored session.
 *
 * @param number given by {@link BrokerStore#newSession}; another one for each session that a client has had
 * @param clientId the client identifier
 * @param userName the user, or null
 * @param roles the roles of the client; empty by default. The will of a disconnected client is authorized with them
 * @param expirySeconds the session expiry interval, 0 to 4,294,967,295; the maximum means never, 0 that the client has resumed the session
 *     for its current connection only
 * @param expiresAtMillis when it ends, by the store's clock; {@link #CONNECTED} while a client is connected. After a crash
 *     the interval begins with the restart
 * @param will the will message that is to be published, or null
 * @param willAtMillis when, by the store's clock; {@link #CONNECTED} while a client is connected
 */
public record StoredSession(
        long number,
        String clientId,
        @Nullable String userName,
        Set<String> roles,
        long expirySeconds,
        long expiresAtMillis,
        @Nullable Will will,
        long willAtMillis) {

    /** No deadline runs: a client is connected. */
    public static final long CONNECTED = -1;

    /** The session never ends by itself. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Copies the roles. */
    public StoredSession {
        roles = Set.copyOf(roles);
    }

    /**
     * A session whose client has no roles.
     *
     * @param number see above, like the others
     * @param clientId the client identifier
     * @param userName the user, or null
     * @param expirySeconds the session expiry interval
     * @param expiresAtMillis when it ends
     * @param will the will message, or null
     * @param willAtMillis when it is published
     */
    public StoredSession(
            long number,
            String clientId,
            @Nullable String userName,
            long expirySeconds,
            long expiresAtMillis,
            @Nullable Will will,
            long willAtMillis) {
        this(number, clientId, userName, Set.of(), expirySeconds, expiresAtMillis, will, willAtMillis);
    }
}
