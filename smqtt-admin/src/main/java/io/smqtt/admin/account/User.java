// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

/**
 * A person who logs in at the management port. Immutable.
 *
 * @param passwordHash the hash of the password, in the form of a password file
 * @param role what the user may do
 * @param description a text for people; may be empty
 */
public record User(String passwordHash, Role role, String description) {

    /** {@return the form without the hash} */
    @Override
    public String toString() {
        return "User[role=" + role + ", description=" + description + "]";
    }
}
