// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A value of {@code userPassword}, as RFC 2307 and OpenLDAP write it: <code>{SSHA}</code> and the Base64 of a digest and its salt, the
 * other schemes with a digest, and those of hashes that are slow on purpose. Text without a scheme is the password itself.
 */
final class LdapPassword {

    /** The digest of each scheme. What follows the digest is the salt. */
    private static final Map<String, String> DIGESTS = Map.ofEntries(
            Map.entry("MD5", "MD5"),
            Map.entry("SMD5", "MD5"),
            Map.entry("SHA", "SHA-1"),
            Map.entry("SSHA", "SHA-1"),
            Map.entry("SHA256", "SHA-256"),
            Map.entry("SSHA256", "SHA-256"),
            Map.entry("SHA384", "SHA-384"),
            Map.entry("SSHA384", "SHA-384"),
            Map.entry("SHA512", "SHA-512"),
            Map.entry("SSHA512", "SHA-512"));

    /** The function of each scheme with PBKDF2. */
    private static final Map<String, String> FUNCTIONS =
            Map.of("PBKDF2", "sha1", "PBKDF2-SHA1", "sha1", "PBKDF2-SHA256", "sha256", "PBKDF2-SHA512", "sha512");

    /**
     * A value with a scheme.
     *
     * @param scheme the scheme in capital letters, such as {@code SSHA}
     * @param text what follows it
     */
    private record Schemed(String scheme, String text) {}

    /** Whether a password is the one that a value was made from. */
    enum Match {
        /** It is. */
        YES,
        /** It is not. */
        NO,
        /** The scheme of the value is unknown, or the value is damaged. */
        UNREADABLE
    }

    private LdapPassword() {}

    /**
     * Compares a password with a value.
     *
     * @param stored the value of the attribute
     * @param password what the client has sent; an empty one never matches
     */
    static Match match(byte[] stored, byte[] password) {
        if (password.length == 0) {
            return Match.NO;
        }
        Schemed value = schemed(stored);
        return value == null
                ? match(MessageDigest.isEqual(stored, password))
                : hashed(value.scheme(), value.text(), password);
    }

    /**
     * The hash of a value whose comparison is slow on purpose: <code>{ARGON2}</code>, <code>{PBKDF2-SHA256}</code>, bcrypt as
     * <code>{CRYPT}$2b$</code> or <code>{BCRYPT}</code>, and SHA of crypt(3) as <code>{CRYPT}$6$</code>.
     *
     * @param stored the value of the attribute
     * @return the hash as {@link io.smqtt.access.hash.PasswordFormat#selfContained()} reads it; null if the value is of another kind
     */
    static @Nullable String slowHash(byte[] stored) {
        Schemed value = schemed(stored);
        if (value == null) {
            return null;
        }
        String text = value.text();
        String function = FUNCTIONS.get(value.scheme());
        if (function != null) {
            return "PBKDF2$" + function + "$" + text.replace('.', '+'); // Base64 as passlib and OpenLDAP write it
        }
        boolean known = switch (value.scheme()) {
            case "ARGON2" -> text.startsWith("$argon2");
            case "BCRYPT" -> text.startsWith("$2");
            case "CRYPT" -> text.startsWith("$2") || text.startsWith("$5$") || text.startsWith("$6$");
            default -> false;
        };
        return known ? text : null;
    }

    /** Splits a value; null without a scheme. */
    private static @Nullable Schemed schemed(byte[] stored) {
        String text = new String(stored, StandardCharsets.UTF_8);
        int end = end(text);
        if (end < 0) {
            text = decoded(text);
            end = text == null ? -1 : end(text);
        }
        return text == null || end < 0
                ? null
                : new Schemed(text.substring(1, end).toUpperCase(Locale.ROOT), text.substring(end + 1));
    }

    /** The end of the scheme, or -1 without one. */
    private static int end(String text) {
        return text.startsWith("{") ? text.indexOf('}') : -1;
    }

    /** The value behind another Base64, which LDIF files have; null if it is none. */
    private static @Nullable String decoded(String text) {
        try {
            String decoded = new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
            return end(decoded) > 0 ? decoded : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static Match hashed(String scheme, String value, byte[] password) {
        String algorithm = DIGESTS.get(scheme);
        if (algorithm == null) {
            return scheme.equals("CLEARTEXT")
                    ? match(MessageDigest.isEqual(value.getBytes(StandardCharsets.UTF_8), password))
                    : Match.UNREADABLE;
        }
        try {
            MessageDigest digest = MessageDigest.getInstance(algorithm);
            byte[] bytes = Base64.getDecoder().decode(value);
            int length = digest.getDigestLength();
            if (bytes.length < length) {
                return Match.UNREADABLE;
            }
            digest.update(password);
            digest.update(bytes, length, bytes.length - length);
            return match(MessageDigest.isEqual(digest.digest(), Arrays.copyOf(bytes, length)));
        } catch (NoSuchAlgorithmException | IllegalArgumentException e) {
            return Match.UNREADABLE;
        }
    }

    private static Match match(boolean equal) {
        return equal ? Match.YES : Match.NO;
    }
}
