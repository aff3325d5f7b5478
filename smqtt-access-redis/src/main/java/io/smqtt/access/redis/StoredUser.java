// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

/**
 * A user as Redis has it.
 *
 * @param passwordHash the hash of the password
 * @param salt the salt that is beside the hash; empty without one
 * @param superuser whether the user may do everything
 */
record StoredUser(String passwordHash, String salt, boolean superuser) {

    /** Without the hash. */
    @Override
    public String toString() {
        return "StoredUser[superuser=" + superuser + ']';
    }
}
