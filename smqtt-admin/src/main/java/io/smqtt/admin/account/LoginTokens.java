// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The login tokens of this node, as SHA-256. A token ends after an hour without a request; of more than 1,000 the least used ones end. */
@AnyThread
final class LoginTokens {

    private static final int MAXIMUM = 1_000;
    private static final int BYTES = 32;

    /** The time without a request after which a token ends. */
    static final Duration IDLE = Duration.ofMinutes(60);

    private final Cache<String, Login> logins;

    /**
     * A login.
     *
     * @param user the user
     * @param passwordHash the hash of the password at that time: a new password ends the login
     */
    record Login(String user, String passwordHash) {}

    LoginTokens(Ticker ticker) {
        logins = Caffeine.newBuilder()
                .maximumSize(MAXIMUM)
                .expireAfterAccess(IDLE)
                .ticker(ticker::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    /** Makes a token. */
    String issue(String user, String passwordHash) {
        String token = Secrets.random(BYTES);
        logins.put(Secrets.sha256(token), new Login(user, passwordHash));
        return token;
    }

    /** The login of a token; null if there is none, or no more. */
    @Nullable
    Login find(String token) {
        return logins.getIfPresent(Secrets.sha256(token));
    }

    /** The same, which is no use of the token. */
    @Nullable
    Login findQuietly(String token) {
        return logins.policy().getIfPresentQuietly(Secrets.sha256(token));
    }

    /** Ends the login of a token; false if there is none. */
    boolean end(String token) {
        return logins.asMap().remove(Secrets.sha256(token)) != null;
    }
}
