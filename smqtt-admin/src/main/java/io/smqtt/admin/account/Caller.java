// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

/**
 * An authenticated caller of the management port. Immutable.
 *
 * @param name the name of the user or key, for the audit; of the token file {@code token}
 * @param role what it may do
 * @param kind how it was authenticated
 */
public record Caller(String name, Role role, Kind kind) {

    /** How a caller was authenticated. */
    public enum Kind {

        /** By the token of the token file, or the one that the broker made. */
        TOKEN,

        /** By the login token of a user. */
        USER,

        /** By an API key and its secret. */
        API_KEY,

        /** By the application around the broker. */
        APPLICATION
    }
}
