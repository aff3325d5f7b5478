// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;

/** Client identifiers for clients that bring none. Thread-safe. */
final class ClientIds {

    private static final String PREFIX = "smqtt-";
    private static final int RANDOM_BYTES = 15;
    private static final int LENGTH = PREFIX.length() + RANDOM_BYTES * 4 / 3;

    /** Reads the system's randomness once, at the start: a default one reads a device file each time, on event loops. */
    private final SecureRandom random = generator();

    ClientIds() {
        assign(); // seeds it
    }

    private static SecureRandom generator() {
        try {
            return SecureRandom.getInstance("DRBG");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java since 9 has a DRBG", e);
        }
    }

    /** An identifier that nobody can guess: knowing it would be enough to take the session over. */
    String assign() {
        byte[] bytes = new byte[RANDOM_BYTES];
        random.nextBytes(bytes);
        return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** Whether an identifier has the form of assigned ones. Who has one was told it, since nobody guesses it. */
    static boolean isAssigned(String clientId) {
        return clientId.length() == LENGTH && clientId.startsWith(PREFIX);
    }
}
