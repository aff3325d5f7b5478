// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The decision of an {@link Authenticator} on a client. */
public sealed interface Authentication {

    /** This authenticator does not decide: the next one does. After the last one the client is refused. */
    Authentication CONTINUE = new Continue();

    /**
     * The client is authenticated.
     *
     * @param userName the user from now on, or null for an anonymous client
     * @param roles the roles of the client, for authorizers
     * @param grants what the client gets in addition
     */
    record Accepted(@Nullable String userName, Set<String> roles, Grants grants) implements Authentication {

        /**
         * An authentication without grants.
         *
         * @param userName the user from now on, or null for an anonymous client
         * @param roles the roles of the client, for authorizers
         */
        public Accepted(@Nullable String userName, Set<String> roles) {
            this(userName, roles, Grants.NONE);
        }
    }

    /**
     * The client is refused.
     *
     * @param reason an error code that is allowed in CONNACK
     * @param reasonString a text that an MQTT 5.0 client gets with it unless its Maximum Packet Size is too small, or null
     */
    record Refused(ReasonCode reason, @Nullable String reasonString) implements Authentication {

        /**
         * A refusal without a text.
         *
         * @param reason an error code that is allowed in CONNACK
         */
        public Refused(ReasonCode reason) {
            this(reason, null);
        }
    }

    /** The next authenticator decides. */
    record Continue() implements Authentication {}

    /**
     * Accepts a client.
     *
     * @param userName the user from now on, or null for an anonymous client
     * @return the answer
     */
    static Authentication accepted(@Nullable String userName) {
        return new Accepted(userName, Set.of());
    }

    /**
     * Refuses a client with bad user name or password.
     *
     * @return the answer, the same for an unknown user and a wrong password
     */
    static Authentication refused() {
        return new Refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
    }

    /**
     * The answer as an already finished Mono.
     *
     * @return a Mono of this answer
     */
    default Mono<Authentication> now() {
        return Mono.just(this);
    }
}
