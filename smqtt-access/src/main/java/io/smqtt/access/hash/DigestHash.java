// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A password as it is, or its digest in hexadecimal digits, with a salt before or behind it. Takes microseconds, and is easy to guess. */
final class DigestHash implements StoredHash {

    /** The place of the salt. */
    enum SaltPosition {
        /** Before the password. */
        PREFIX,
        /** Behind the password. */
        SUFFIX,
        /** There is none; a given one is not used. */
        DISABLE
    }

    private final @Nullable String algorithm;
    private final byte[] hash;
    private final byte[] before;
    private final byte[] behind;

    private DigestHash(@Nullable String algorithm, byte[] hash, String salt, SaltPosition position) {
        byte[] none = new byte[0];
        byte[] bytes = salt.getBytes(StandardCharsets.UTF_8);
        this.algorithm = algorithm;
        this.hash = hash;
        before = position == SaltPosition.PREFIX ? bytes : none;
        behind = position == SaltPosition.SUFFIX ? bytes : none;
    }

    /**
     * Reads a stored password.
     *
     * @param algorithm the name of the digest in Java; null for a password that is stored as it is
     * @param text the hash in hexadecimal digits, or the password
     * @param salt the salt, may be empty
     * @param position where the salt is
     * @throws IllegalArgumentException if the text is no such hash
     */
    static DigestHash parse(@Nullable String algorithm, String text, String salt, SaltPosition position) {
        if (algorithm == null) {
            return new DigestHash(null, text.getBytes(StandardCharsets.UTF_8), salt, position);
        }
        int length = digest(algorithm).getDigestLength();
        byte[] hash = hexadecimal(text);
        if (hash.length != length) {
            throw new IllegalArgumentException("is no " + algorithm + " of " + 2 * length + " hexadecimal digits");
        }
        return new DigestHash(algorithm, hash, salt, position);
    }

    /** The bytes of a text of hexadecimal digits of either case; none if it is no such text. */
    static byte[] hexadecimal(String text) {
        try {
            return HexFormat.of().parseHex(text.toLowerCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }

    @Override
    public boolean matches(byte[] password) {
        if (algorithm == null) {
            byte[] salted = new byte[before.length + password.length + behind.length];
            System.arraycopy(before, 0, salted, 0, before.length);
            System.arraycopy(password, 0, salted, before.length, password.length);
            System.arraycopy(behind, 0, salted, before.length + password.length, behind.length);
            return MessageDigest.isEqual(hash, salted);
        }
        MessageDigest digest = digest(algorithm);
        digest.update(before);
        digest.update(password);
        return MessageDigest.isEqual(hash, digest.digest(behind));
    }

    private static MessageDigest digest(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
