// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Knows who is banned. A banned client is refused with reason code 0x8A, before its credentials are verified. A new ban ends no connection:
 * who keeps the bans disconnects clients, for instance with {@link io.smqtt.Broker#disconnect}, after {@link #isBanned} has begun to name
 * them.
 */
@AnyThread
@FunctionalInterface
public interface Bans {

    /** Nobody is banned. */
    Bans NONE = (clientId, userName, address) -> false;

    /**
     * Tells whether a client is banned. Called up to three times for each CONNECT, on its event loop: before and after the client is
     * authenticated, and when its session is open. Must neither block nor throw.
     *
     * @param clientId the client identifier, assigned by the broker if the client sent none
     * @param userName the user name; null if there is none; before the authentication as the client sent it
     * @param address the address of the client, also behind a trusted proxy
     * @return true to refuse the client
     */
    boolean isBanned(String clientId, @Nullable String userName, InetSocketAddress address);

    /**
     * Combines bans.
     *
     * @param other other bans
     * @return bans of those who are banned by this or the other one
     */
    default Bans or(Bans other) {
        if (this == NONE) {
            return other;
        }
        return other == NONE
                ? this
                : (clientId, userName, address) ->
                        isBanned(clientId, userName, address) || other.isBanned(clientId, userName, address);
    }
}
