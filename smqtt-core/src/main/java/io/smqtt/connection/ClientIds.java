// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;

/**
 * Assigns client identifiers to clients that send none: random characters and a checksum, which distinguishes them from chosen
 * identifiers. Thread-safe.
 */
@AnyThread
final class ClientIds {

    private static final String PREFIX = "smqtt-";
    private static final int RANDOM_BYTES = 15;
    private static final int CHECKSUM_BYTES = 6;
    private static final int RANDOM_END = PREFIX.length() + RANDOM_BYTES * 4 / 3;

    /**
     * The source of randomness. It reads the system's randomness once, at the start; the default source reads a device file each time,
     * which would be on event loops.
     */
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

    /** A new identifier that cannot be guessed: knowing it would be enough to take over the session. */
    String assign() {
        byte[] bytes = new byte[RANDOM_BYTES];
        random.nextBytes(bytes);
        String begin = PREFIX + text(bytes);
        return begin + checksum(begin);
    }

    /**
     * Whether an identifier has the form of an assigned one. A client can make up such an identifier, but not one that equals the
     * identifier of another client: one of 2^48 names has a correct checksum.
     */
    static boolean isAssigned(String clientId) {
        return clientId.length() > RANDOM_END
                && clientId.startsWith(PREFIX)
                && clientId.substring(RANDOM_END).equals(checksum(clientId.substring(0, RANDOM_END)));
    }

    private static String checksum(String begin) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(begin.getBytes(StandardCharsets.UTF_8));
            return text(Arrays.copyOf(digest, CHECKSUM_BYTES));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static String text(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
