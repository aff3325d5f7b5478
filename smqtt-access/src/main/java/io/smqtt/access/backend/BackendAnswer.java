// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answer of a backend on a client. Immutable. */
public sealed interface BackendAnswer {

    /** The backend does not know the client: the next one is asked. */
    BackendAnswer NOT_MINE = new NotMine();

    /** The client is refused, no other backend is asked. */
    BackendAnswer DENY = new Deny();

    /**
     * The client is authenticated.
     *
     * @param superuser whether the client may do everything that is not closed to all clients
     * @param attributes named values of the client, for placeholders
     * @param expiresAt when the authentication ends, or null
     * @param rules the access rules of the client; null if the answer says nothing about them, an empty list if the client may do nothing
     *     that no other rule allows
     */
    record Allow(
            boolean superuser,
            Map<String, String> attributes,
            @Nullable Instant expiresAt,
            @Nullable List<AccessRule> rules)
            implements BackendAnswer {

        /** Copies the collections. */
        public Allow {
            attributes = Map.copyOf(attributes);
            rules = rules == null ? null : List.copyOf(rules);
        }

        /** Says nothing beside that the client is authenticated. */
        public Allow() {
            this(false, Map.of(), null, null);
        }
    }

    /** The client is refused. */
    record Deny() implements BackendAnswer {}

    /** The next backend decides. */
    record NotMine() implements BackendAnswer {}
}
