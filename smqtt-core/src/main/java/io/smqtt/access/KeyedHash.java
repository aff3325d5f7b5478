// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The hash functions of password storage and SCRAM. Every JDK has them. */
final class KeyedHash {

    static final String HMAC_SHA_256 = "HmacSHA256";
    static final String HMAC_SHA_512 = "HmacSHA512";

    private KeyedHash() {}

    static byte[] sha256(byte[] data) {
        return digest("SHA-256").digest(data);
    }

    static byte[] sha512(byte[] first, byte[] second) {
        MessageDigest digest = digest("SHA-512");
        digest.update(first);
        return digest.digest(second);
    }

    static byte[] hmac(String algorithm, byte[] key, byte[] data) {
        return mac(algorithm, key).doFinal(data);
    }

    static byte[] hmacSha256(byte[] key, String text) {
        return hmac(HMAC_SHA_256, key, text.getBytes(StandardCharsets.UTF_8));
    }

    /** PBKDF2 (RFC 8018, section 5.2) with a result as long as the hash, over the bytes of the password. */
    static byte[] pbkdf2(String algorithm, byte[] password, byte[] salt, int iterations) {
        Mac mac = mac(algorithm, password);
        mac.update(salt);
        byte[] block = mac.doFinal(new byte[] {0, 0, 0, 1});
        byte[] result = block.clone();
        for (int i = 1; i < iterations; i++) {
            block = mac.doFinal(block);
            for (int j = 0; j < result.length; j++) {
                result[j] ^= block[j];
            }
        }
        return result;
    }

    /** A generator of random numbers that does not block after its first use. */
    static SecureRandom random() {
        try {
            SecureRandom random = SecureRandom.getInstance("DRBG");
            random.nextBytes(new byte[1]);
            return random;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    static byte[] randomBytes(SecureRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static Mac mac(String algorithm, byte[] key) {
        try {
            Mac mac = Mac.getInstance(algorithm);
            // HMAC pads keys with zeros, so this equals the empty key, which SecretKeySpec does not accept.
            mac.init(new SecretKeySpec(key.length == 0 ? new byte[1] : key, algorithm));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MessageDigest digest(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
