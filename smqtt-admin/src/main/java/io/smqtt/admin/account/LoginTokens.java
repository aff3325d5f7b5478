// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The login tokens of this node, as SHA-256, and for a while those of other nodes that are used here. A token ends after an hour without a
 * request; of more than 1,000 the least used ones end.
 */
@AnyThread
final class LoginTokens {

    private static final int MAXIMUM = 1_000;
    private static final int BYTES = 32;

    /** The time without a request after which a token ends. */
    static final Duration IDLE = Duration.ofMinutes(60);

    /** The time for which a login of another node is known here. */
    static final Duration LENT = Duration.ofSeconds(10);

    private final Cache<String, Login> logins;
    private final Cache<String, Login> lent;

    /** Those that the other node was asked for without a use: the next use must ask again, so that the other node counts it. */
    private final Cache<String, Login> seen;

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
        lent = ofOthers(ticker);
        seen = ofOthers(ticker);
    }

    private static Cache<String, Login> ofOthers(Ticker ticker) {
        return Caffeine.newBuilder()
                .maximumSize(MAXIMUM)
                .expireAfterWrite(LENT)
                .ticker(ticker::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    /** The key of a token, which may name its node after a dot. */
    static String key(String token) {
        int dot = token.indexOf('.');
        return Secrets.sha256(dot < 0 ? token : token.substring(0, dot));
    }

    /** Makes a token. */
    String issue(String user, String passwordHash) {
        String token = Secrets.random(BYTES);
        logins.put(key(token), new Login(user, passwordHash));
        return token;
    }

    /** The login of a token; null if there is none, or no more. */
    @Nullable
    Login find(String token) {
        String key = key(token);
        Login own = own(key, false);
        return own == null ? lent.getIfPresent(key) : own;
    }

    /** The same, which is no use of the token. */
    @Nullable
    Login findQuietly(String token) {
        String key = key(token);
        Login own = own(key, true);
        if (own != null) {
            return own;
        }
        Login used = lent.getIfPresent(key);
        return used == null ? seen.getIfPresent(key) : used;
    }

    /** The login that this node has made, by the key of its token; null if there is none. */
    @Nullable
    Login own(String key, boolean quietly) {
        return quietly ? logins.policy().getIfPresentQuietly(key) : logins.getIfPresent(key);
    }

    /** Makes a login of another node known here for a while, for uses or only for looks without a use. */
    void lend(String key, Login login, boolean quietly) {
        (quietly ? seen : lent).put(key, login);
    }

    /** Ends a login by the key of its token; false if there is none. */
    boolean end(String key) {
        lent.invalidate(key);
        seen.invalidate(key);
        return logins.asMap().remove(key) != null;
    }
}
