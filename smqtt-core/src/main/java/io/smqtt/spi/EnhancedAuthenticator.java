// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A method of enhanced authentication by AUTH packets (MQTT 5.0, section 4.12), such as SCRAM-SHA-256. */
public interface EnhancedAuthenticator {

    /**
     * The authentication method's name on the wire.
     *
     * @return for example SCRAM-SHA-256
     */
    String method();

    /**
     * Begins an exchange, at CONNECT or at re-authentication. Called on an event loop.
     *
     * @param request the credentials of the client
     * @return the state of one exchange
     */
    Exchange begin(AuthenticationRequest request);

    /** One exchange with one client. Used by one thread at a time. */
    interface Exchange {

        /**
         * Processes the client's data. Called on an event loop: must not block.
         *
         * @param data the authentication data, or null if the client sent none
         * @return exactly one step; an error refuses the client
         */
        Mono<Step> next(byte @Nullable [] data);
    }

    /** The broker's next step in an exchange. */
    sealed interface Step {

        /**
         * Continues the exchange.
         *
         * @param data the authentication data
         */
        record Challenge(byte[] data) implements Step {}

        /**
         * The client is authenticated.
         *
         * @param userName the authenticated user, or null for a client without one; at re-authentication that of before
         * @param roles the roles of the client, for authorizers
         * @param data the last authentication data, or null
         * @param grants what the client gets in addition
         */
        record Success(@Nullable String userName, Set<String> roles, byte @Nullable [] data, Grants grants)
                implements Step {

            /**
             * A success without grants.
             *
             * @param userName the authenticated user
             * @param roles the roles of the client, for authorizers
             * @param data the last authentication data, or null
             */
            public Success(String userName, Set<String> roles, byte @Nullable [] data) {
                this(userName, roles, data, Grants.NONE);
            }
        }

        /**
         * The client is refused.
         *
         * @param reason an error code
         */
        record Failure(ReasonCode reason) implements Step {}
    }
}
