// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.concurrent.CancellationException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A hash of crypt(3) by SHA-256 or SHA-512, such as {@code $6$rounds=10000$salt$hash}, as Unix systems and directories made from them have it
 * (the specification by U. Drepper, version 0.6).
 */
final class ShaCryptHash implements StoredHash {

    /** The maximum number of rounds: about half a second. */
    static final int MAXIMUM_ROUNDS = 500_000;

    /** The maximum length of a password in bytes; a longer one matches nothing. Its digest costs the square of its length. */
    static final int MAXIMUM_PASSWORD = 256;

    private static final int DEFAULT_ROUNDS = 5_000;
    private static final int MINIMUM_ROUNDS = 1_000;
    private static final int INTERRUPT_CHECK_MASK = 0xfff;
    private static final int LEAST_SALTS = 16;
    private static final String DIGITS = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    private static final Pattern FORM = Pattern.compile(
            "\\$([56])\\$(?:rounds=([0-9]{1,9})\\$)?([^$]{1,16})\\$([./0-9A-Za-z]{43}|[./0-9A-Za-z]{86})");

    private final boolean is512;
    private final int rounds;
    private final byte[] salt;
    private final byte[] hash;

    private ShaCryptHash(boolean is512, int rounds, byte[] salt, byte[] hash) {
        this.is512 = is512;
        this.rounds = rounds;
        this.salt = salt;
        this.hash = hash;
    }

    /**
     * Reads a hash.
     *
     * @throws IllegalArgumentException if it is none, or too expensive
     */
    static ShaCryptHash parse(String text) {
        Matcher matcher = FORM.matcher(text);
        boolean is512 = text.startsWith("$6$");
        if (!matcher.matches() || (matcher.group(4).length() == 86) != is512) {
            throw new IllegalArgumentException("is no SHA-256 or SHA-512 of crypt with salt and hash");
        }
        String given = matcher.group(2);
        int rounds = given == null ? DEFAULT_ROUNDS : Math.max(MINIMUM_ROUNDS, Integer.parseInt(given));
        if (rounds > MAXIMUM_ROUNDS) {
            throw new IllegalArgumentException("is one of crypt with more than " + MAXIMUM_ROUNDS + " rounds");
        }
        return new ShaCryptHash(
                is512,
                rounds,
                matcher.group(3).getBytes(StandardCharsets.UTF_8),
                matcher.group(4).getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public boolean matches(byte[] password) {
        return password.length <= MAXIMUM_PASSWORD && MessageDigest.isEqual(hash, encoded(computed(password)));
    }

    private byte[] computed(byte[] password) {
        MessageDigest digest = digest();
        byte[] start = start(digest, password);
        byte[] passwords = filled(repeated(digest, password, password.length), password.length);
        byte[] salts = filled(repeated(digest, salt, LEAST_SALTS + (start[0] & 0xff)), salt.length);
        byte[] last = start;
        for (int i = 0; i < rounds; i++) {
            boolean isOdd = (i & 1) != 0;
            digest.update(isOdd ? passwords : last);
            if (i % 3 != 0) {
                digest.update(salts);
            }
            if (i % 7 != 0) {
                digest.update(passwords);
            }
            digest.update(isOdd ? last : passwords);
            last = digest.digest();
            if ((i & INTERRUPT_CHECK_MASK) == 0 && Thread.currentThread().isInterrupted()) {
                throw new CancellationException();
            }
        }
        return last;
    }

    /** The digest before the first round. */
    private byte[] start(MessageDigest digest, byte[] password) {
        digest.update(password);
        digest.update(salt);
        byte[] other = digest.digest(password);
        digest.update(password);
        digest.update(salt);
        digest.update(filled(other, password.length));
        for (int bits = password.length; bits > 0; bits >>= 1) {
            digest.update((bits & 1) != 0 ? other : password);
        }
        return digest.digest();
    }

    private static byte[] repeated(MessageDigest digest, byte[] bytes, int times) {
        for (int i = 0; i < times; i++) {
            digest.update(bytes);
        }
        return digest.digest();
    }

    /** The bytes again and again, up to a length. */
    private static byte[] filled(byte[] bytes, int length) {
        byte[] filled = new byte[length];
        for (int at = 0; at < length; at += bytes.length) {
            System.arraycopy(bytes, 0, filled, at, Math.min(bytes.length, length - at));
        }
        return filled;
    }

    /** Writes three bytes, each from another third of the digest, as four digits; the order of the thirds turns from group to group. */
    private byte[] encoded(byte[] digest) {
        StringBuilder text = new StringBuilder();
        int third = digest.length / 3;
        for (int i = 0; i < third; i++) {
            int[] group = {digest[i] & 0xff, digest[i + third] & 0xff, digest[i + 2 * third] & 0xff};
            int first = is512 ? i % 3 : (3 - i % 3) % 3;
            append(text, (group[first] << 16) | (group[(first + 1) % 3] << 8) | group[(first + 2) % 3], 4);
        }
        byte[] rest = Arrays.copyOfRange(digest, 3 * third, digest.length);
        append(text, rest.length == 1 ? rest[0] & 0xff : ((rest[1] & 0xff) << 8) | (rest[0] & 0xff), rest.length + 1);
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void append(StringBuilder text, int bits, int digits) {
        for (int i = 0; i < digits; i++) {
            text.append(DIGITS.charAt((bits >> (6 * i)) & 0x3f));
        }
    }

    private MessageDigest digest() {
        try {
            return MessageDigest.getInstance(is512 ? "SHA-512" : "SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
