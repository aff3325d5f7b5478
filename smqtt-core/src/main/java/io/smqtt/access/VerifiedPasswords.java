// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.smqtt.spi.Ticker;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A short-lived cache of verified passwords, so that many clients that reconnect at once need not all wait for a hash. It keeps neither
 * passwords nor data from which they could be found without the key, which is random and never leaves the process. An entry is valid only
 * for the hash against which the password was verified.
 */
final class VerifiedPasswords {

    private static final int MAXIMUM_ENTRIES = 10_000;
    private static final Duration EXPIRY = Duration.ofMinutes(5);

    private final byte[] secret;
    private final Cache<ByteBuffer, PasswordHash> hashes;

    VerifiedPasswords(byte[] secret, Ticker ticker) {
        this.secret = secret;
        hashes = Caffeine.newBuilder()
                .maximumSize(MAXIMUM_ENTRIES)
                .expireAfterWrite(EXPIRY)
                .ticker(ticker::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    boolean contains(String userName, byte[] password, PasswordHash hash) {
        return hashes.getIfPresent(key(userName, password)) == hash;
    }

    void add(String userName, byte[] password, PasswordHash hash) {
        hashes.put(key(userName, password), hash);
    }

    void clear() {
        hashes.invalidateAll();
    }

    private ByteBuffer key(String userName, byte[] password) {
        byte[] user = userName.getBytes(StandardCharsets.UTF_8);
        ByteBuffer pair = ByteBuffer.allocate(Integer.BYTES + user.length + password.length);
        pair.putInt(user.length).put(user).put(password);
        return ByteBuffer.wrap(KeyedHash.hmac(KeyedHash.HMAC_SHA_256, secret, pair.array()));
    }
}
