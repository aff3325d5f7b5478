// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.thread.AnyThread;
import java.security.SecureRandom;

/** Hashes of passwords as texts, in the form of a password file. Hashing is slow on purpose: not for event loops. */
@AnyThread
public final class PasswordText {

    private static final SecureRandom RANDOM = KeyedHash.random();

    private PasswordText() {}

    /**
     * Hashes a password with a new salt, by PBKDF2 with HMAC-SHA-512.
     *
     * @param password the password's UTF-8
     * @param iterations the iterations, 1 to 10,000,000
     * @return {@code $7$iterations$salt$hash}
     */
    public static String hash(byte[] password, int iterations) {
        return PasswordHash.Pbkdf2Sha512.of(
                        password, KeyedHash.randomBytes(RANDOM, PasswordFile.SALT_BYTES), iterations)
                .encoded();
    }

    /**
     * Compares a password with a hash.
     *
     * @param password the password's UTF-8
     * @param hash any form that a password file may have
     * @return whether it is the password
     * @throws IllegalArgumentException if the hash is malformed; the message does not have it
     */
    public static boolean matches(byte[] password, String hash) {
        return PasswordHash.parse(hash).matches(password);
    }

    /**
     * Checks the form of a hash.
     *
     * @param hash the text
     * @throws IllegalArgumentException if it is malformed; the message does not have it
     */
    public static void check(String hash) {
        PasswordHash.parse(hash);
    }
}
