// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import at.favre.lib.crypto.bcrypt.BCrypt;
import at.favre.lib.crypto.bcrypt.LongPasswordStrategies;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A hash by bcrypt, such as {@code $2b$10$...}. Of a longer password the first 72 bytes count, as everywhere. */
final class BcryptHash implements StoredHash {

    /** The maximum cost, the binary logarithm of the rounds: about a second. */
    static final int MAXIMUM_COST = 14;

    private static final int MINIMUM_COST = 4;
    private static final Pattern FORM = Pattern.compile("\\$2[abxy]\\$([0-9]{2})\\$[./A-Za-z0-9]{53}");

    private final byte[] hash;

    private BcryptHash(byte[] hash) {
        this.hash = hash;
    }

    /**
     * Reads a hash.
     *
     * @throws IllegalArgumentException if it is none, or too expensive
     */
    static BcryptHash parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("is no bcrypt hash");
        }
        int cost = Integer.parseInt(matcher.group(1));
        if (cost < MINIMUM_COST || cost > MAXIMUM_COST) {
            throw new IllegalArgumentException(
                    "is a bcrypt hash whose cost is not from " + MINIMUM_COST + " to " + MAXIMUM_COST);
        }
        return new BcryptHash(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public boolean matches(byte[] password) {
        BCrypt.Version version = BCrypt.Version.VERSION_2A;
        return BCrypt.verifyer(version, LongPasswordStrategies.truncate(version))
                .verify(password, hash)
                .verified;
    }
}
