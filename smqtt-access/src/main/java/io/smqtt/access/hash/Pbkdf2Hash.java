// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CancellationException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A hash by PBKDF2 (RFC 8018, section 5.2). */
final class Pbkdf2Hash implements StoredHash {

    /** The maximum number of iterations over all blocks of a hash: about two seconds. */
    static final int MAXIMUM_ITERATIONS = 2_000_000;

    /** The maximum length of a hash in bytes. */
    static final int MAXIMUM_LENGTH = 256;

    /** The MACs by their names in configurations and hashes. */
    static final Map<String, String> MACS = Map.of(
            "md5", "HmacMD5",
            "sha", "HmacSHA1",
            "sha1", "HmacSHA1",
            "sha224", "HmacSHA224",
            "sha256", "HmacSHA256",
            "sha384", "HmacSHA384",
            "sha512", "HmacSHA512");

    private static final int INTERRUPT_CHECK_MASK = 0xfff;
    private static final int FIELDS = 5;

    private final String mac;
    private final int iterations;
    private final byte[] salt;
    private final byte[] hash;

    private Pbkdf2Hash(String mac, int iterations, byte[] salt, byte[] hash) {
        this.mac = mac;
        this.iterations = iterations;
        this.salt = salt;
        this.hash = hash;
    }

    /**
     * Makes a hash of its parts.
     *
     * @param function a name of {@link #MACS}
     * @param iterations how often the MAC is applied
     * @param salt the salt, may be empty
     * @param hash the derived key
     * @throws IllegalArgumentException if the function is unknown, or the hash empty, too long or too expensive
     */
    static Pbkdf2Hash of(String function, long iterations, byte[] salt, byte[] hash) {
        String mac = MACS.get(function.toLowerCase(Locale.ROOT));
        if (mac == null) {
            throw new IllegalArgumentException("is a PBKDF2 of an unknown function");
        }
        if (hash.length == 0 || hash.length > MAXIMUM_LENGTH) {
            throw new IllegalArgumentException("is no PBKDF2 of 1 to " + MAXIMUM_LENGTH + " bytes");
        }
        int blocks = -Math.floorDiv(-hash.length, mac(mac, new byte[1]).getMacLength());
        if (iterations < 1 || iterations > MAXIMUM_ITERATIONS / blocks) {
            throw new IllegalArgumentException("is a PBKDF2 whose iterations are not from 1 to " + MAXIMUM_ITERATIONS);
        }
        return new Pbkdf2Hash(mac, (int) iterations, salt, hash);
    }

    /**
     * Reads {@code PBKDF2$sha512$100000$salt$hash}, with salt and hash in Base64.
     *
     * @param text the stored text
     * @param saltBytes reads the salt
     * @throws IllegalArgumentException if it is no such hash
     */
    static Pbkdf2Hash parse(String text, SaltReader saltBytes) {
        String[] fields = text.split("\\$", FIELDS + 1);
        if (fields.length != FIELDS) {
            throw new IllegalArgumentException("is no PBKDF2 with function, iterations, salt and hash");
        }
        long iterations;
        try {
            iterations = Long.parseLong(fields[2]);
        } catch (NumberFormatException e) {
            iterations = -1;
        }
        return of(fields[1], iterations, saltBytes.read(fields[3]), base64(fields[4]));
    }

    /** Reads the salt of a hash. */
    interface SaltReader {

        /**
         * The bytes of a salt.
         *
         * @throws IllegalArgumentException if they cannot be read
         */
        byte[] read(String text);
    }

    /** Base64 with or without padding. */
    static byte[] base64(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("has a field that is no Base64");
        }
    }

    @Override
    public boolean matches(byte[] password) {
        byte[] key = password.length == 0 ? new byte[1] : password; // padded with zeros anyway
        Mac function = mac(mac, key);
        ByteBuffer computed = ByteBuffer.allocate(hash.length);
        for (int block = 1; computed.hasRemaining(); block++) {
            byte[] bytes = block(function, block);
            computed.put(bytes, 0, Math.min(bytes.length, computed.remaining()));
        }
        return MessageDigest.isEqual(hash, computed.array());
    }

    private byte[] block(Mac function, int number) {
        function.update(salt);
        byte[] last = function.doFinal(
                ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
        byte[] sum = last.clone();
        for (int i = 1; i < iterations; i++) {
            last = function.doFinal(last);
            for (int j = 0; j < sum.length; j++) {
                sum[j] ^= last[j];
            }
            if ((i & INTERRUPT_CHECK_MASK) == 0 && Thread.currentThread().isInterrupted()) {
                throw new CancellationException();
            }
        }
        return sum;
    }

    private static Mac mac(String algorithm, byte[] key) {
        try {
            Mac mac = Mac.getInstance(algorithm);
            mac.init(new SecretKeySpec(key, algorithm));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
