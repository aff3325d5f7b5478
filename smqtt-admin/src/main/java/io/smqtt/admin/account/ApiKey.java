// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An API key of a script, which sends key and secret with each request (Basic). Immutable.
 *
 * @param key the public half
 * @param secretHash the SHA-256 of the secret in hexadecimal; a secret has 256 random bits, so a fast hash is enough
 * @param role what the key may do
 * @param enabled false if it is not accepted now
 * @param expiresAt when it is no longer accepted; null for never
 * @param createdAt when it was created
 * @param description a text for people; may be empty
 */
public record ApiKey(
        String key,
        String secretHash,
        Role role,
        boolean enabled,
        @Nullable Instant expiresAt,
        Instant createdAt,
        String description) {

    /**
     * Whether the key has expired.
     *
     * @param now the time
     * @return true from its expiry on
     */
    public boolean isExpired(Instant now) {
        return expiresAt != null && !now.isBefore(expiresAt);
    }

    /** {@return the form without the hash} */
    @Override
    public String toString() {
        return "ApiKey[key=" + key + ", role=" + role + ", enabled=" + enabled + ", expiresAt=" + expiresAt + "]";
    }
}
