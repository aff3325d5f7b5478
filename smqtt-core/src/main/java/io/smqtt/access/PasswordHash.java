// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.security.MessageDigest;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** A password hash of a password file. Compared in constant time; a password with U+0000 never matches. */
sealed interface PasswordHash {

    /** Maximum iterations of one hash, which bounds the cost of a login. */
    int MAXIMUM_ITERATIONS = 10_000_000;

    /** Computes the hash of a password and compares. Slow on purpose: not on an event loop. */
    boolean matches(byte[] password);

    /** The hash in the format of the file. */
    String encoded();

    /**
     * Parses the hash after the user name.
     *
     * @throws IllegalArgumentException with the problem, without the hash itself
     */
    static PasswordHash parse(String text) {
        String[] parts = text.split("\\$", -1);
        if (parts.length < 2 || !parts[0].isEmpty()) {
            throw new IllegalArgumentException("has no hash after the user name; set the password with smqtt passwd");
        }
        return switch (parts[1]) {
            case "6" -> Sha512.parse(fields(parts, 4));
            case "7" -> Pbkdf2Sha512.parse(fields(parts, 5));
            case "scram-sha-256" -> ScramSha256.parse(fields(parts, 6));
            default ->
                throw new IllegalArgumentException(
                        "has a hash of an unknown kind; known are 6, 7 and scram-sha-256: set the password again with smqtt passwd");
        };
    }

    private static String[] fields(String[] parts, int count) {
        if (parts.length != count) {
            throw new IllegalArgumentException("has a damaged hash: " + (count - 1) + " fields after $ expected");
        }
        return parts;
    }

    private static byte[] bytes(String base64, int length) {
        byte @Nullable [] bytes;
        try {
            bytes = Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            bytes = null;
        }
        if (bytes == null || bytes.length == 0 || (length > 0 && bytes.length != length)) {
            throw new IllegalArgumentException("has a damaged hash: a field is not Base64 or has the wrong length");
        }
        return bytes;
    }

    private static int parseIterations(String text, int minimum) {
        int iterations;
        try {
            iterations = Integer.parseInt(text);
        } catch (NumberFormatException e) {
            iterations = -1;
        }
        if (iterations < minimum || iterations > MAXIMUM_ITERATIONS) {
            throw new IllegalArgumentException(
                    "has a hash whose iterations are not from " + minimum + " to " + MAXIMUM_ITERATIONS);
        }
        return iterations;
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** {@code $6$salt$hash}: SHA-512 of password and salt. Easy to guess; supported for old files. */
    final class Sha512 implements PasswordHash {

        private final byte[] salt;
        private final byte[] hash;

        private Sha512(byte[] salt, byte[] hash) {
            this.salt = salt;
            this.hash = hash;
        }

        private static Sha512 parse(String[] parts) {
            return new Sha512(bytes(parts[2], 0), bytes(parts[3], 64));
        }

        @Override
        public boolean matches(byte[] password) {
            return MessageDigest.isEqual(hash, KeyedHash.sha512(password, salt));
        }

        @Override
        public String encoded() {
            return "$6$" + base64(salt) + '$' + base64(hash);
        }
    }

    /** {@code $7$iterations$salt$hash}: PBKDF2 with HMAC-SHA-512. */
    final class Pbkdf2Sha512 implements PasswordHash {

        private final int iterations;
        private final byte[] salt;
        private final byte[] hash;

        private Pbkdf2Sha512(int iterations, byte[] salt, byte[] hash) {
            this.iterations = iterations;
            this.salt = salt;
            this.hash = hash;
        }

        static Pbkdf2Sha512 of(byte[] password, byte[] salt, int iterations) {
            byte[] hash = KeyedHash.pbkdf2(KeyedHash.HMAC_SHA_512, password, salt, iterations);
            return new Pbkdf2Sha512(iterations, salt, hash);
        }

        private static Pbkdf2Sha512 parse(String[] parts) {
            return new Pbkdf2Sha512(parseIterations(parts[2], 1), bytes(parts[3], 0), bytes(parts[4], 64));
        }

        int iterations() {
            return iterations;
        }

        @Override
        public boolean matches(byte[] password) {
            byte[] computed = KeyedHash.pbkdf2(KeyedHash.HMAC_SHA_512, password, salt, iterations);
            return MessageDigest.isEqual(hash, computed);
        }

        @Override
        public String encoded() {
            return "$7$" + iterations + '$' + base64(salt) + '$' + base64(hash);
        }
    }

    /**
     * {@code $scram-sha-256$iterations$salt$storedKey$serverKey}: the server's data of RFC 5802, section 3. Also verifies a password that a
     * client sends in the CONNECT.
     */
    final class ScramSha256 implements PasswordHash {

        /** The minimum of RFC 7677, section 4. */
        static final int MINIMUM_ITERATIONS = 4_096;

        private final int iterations;
        private final byte[] salt;
        private final byte[] storedKey;
        private final byte[] serverKey;

        ScramSha256(int iterations, byte[] salt, byte[] storedKey, byte[] serverKey) {
            this.iterations = iterations;
            this.salt = salt;
            this.storedKey = storedKey;
            this.serverKey = serverKey;
        }

        /** Creates a hash from the password after SASLprep. */
        static ScramSha256 of(byte[] password, byte[] salt, int iterations) {
            byte[] salted = KeyedHash.pbkdf2(KeyedHash.HMAC_SHA_256, password, salt, iterations);
            byte[] storedKey = KeyedHash.sha256(KeyedHash.hmacSha256(salted, "Client Key"));
            return new ScramSha256(iterations, salt, storedKey, KeyedHash.hmacSha256(salted, "Server Key"));
        }

        private static ScramSha256 parse(String[] parts) {
            return new ScramSha256(
                    parseIterations(parts[2], MINIMUM_ITERATIONS),
                    bytes(parts[3], 0),
                    bytes(parts[4], 32),
                    bytes(parts[5], 32));
        }

        int iterations() {
            return iterations;
        }

        byte[] salt() {
            return salt;
        }

        byte[] storedKey() {
            return storedKey;
        }

        byte[] serverKey() {
            return serverKey;
        }

        @Override
        public boolean matches(byte[] password) {
            byte @Nullable [] prepared = Saslprep.prepare(password);
            ScramSha256 computed = of(prepared == null ? password : prepared, salt, iterations);
            return MessageDigest.isEqual(storedKey, computed.storedKey) && prepared != null;
        }

        @Override
        public String encoded() {
            return "$scram-sha-256$" + iterations + '$' + base64(salt) + '$' + base64(storedKey) + '$'
                    + base64(serverKey);
        }
    }
}
