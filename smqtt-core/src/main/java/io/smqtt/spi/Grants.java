// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an authenticator grants to a client besides its user name and roles. Immutable; each {@code with} method returns a changed copy.
 *
 * @param superuser whether the client may do everything that is not closed to all clients: authorizers are not asked
 * @param attributes named values of the client, for placeholders in access rules and in requests to backends
 * @param validUntil when the authentication ends: the client is then disconnected with 0xA0 (Maximum connect time); null if it does not end
 * @param rules the client's own access rules, asked before any authorizer, or null
 */
public record Grants(
        boolean superuser,
        Map<String, String> attributes,
        @Nullable Instant validUntil,
        @Nullable ClientRules rules) {

    /** No grants. */
    public static final Grants NONE = new Grants(false, Map.of(), null, null);

    /** Copies the attributes. */
    public Grants {
        attributes = Map.copyOf(attributes);
    }

    /**
     * The same grants of a client that may do everything.
     *
     * @return a copy
     */
    public Grants withSuperuser() {
        return new Grants(true, attributes, validUntil, rules);
    }

    /**
     * The same grants with other attributes.
     *
     * @param changed names and values
     * @return a copy
     */
    public Grants withAttributes(Map<String, String> changed) {
        return new Grants(superuser, changed, validUntil, rules);
    }

    /**
     * The same grants for a limited time.
     *
     * @param end when the authentication ends, or null
     * @return a copy
     */
    public Grants withValidUntil(@Nullable Instant end) {
        return new Grants(superuser, attributes, end, rules);
    }

    /**
     * The same grants with access rules.
     *
     * @param changed the rules, or null
     * @return a copy
     */
    public Grants withRules(@Nullable ClientRules changed) {
        return new Grants(superuser, attributes, validUntil, changed);
    }
}
