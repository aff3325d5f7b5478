// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.LogText;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Compares passwords of clients with stored hashes. Hashes that are slow on purpose are computed on threads of the backend, half as many
 * as there are processors, so that a storm of logins leaves some to the clients that are connected. A check that nobody waits for any
 * more does not begin, and PBKDF2 stops.
 *
 * <p>A stored hash that cannot be read, or whose cost is over the limit, matches no password, and is logged once a minute. It is no failure
 * of the backend: otherwise who knows the name of one such user could have the backend taken out of use for all.
 */
@AnyThread
public final class PasswordChecks implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PasswordChecks.class);
    private static final int THREAD_IDLE_SECONDS = 60;

    private final String name;
    private final PasswordFormat format;
    private final Scheduler threads;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);

    /**
     * Creates the checks of a backend. Threads are started with the first check of a slow hash.
     *
     * @param format the form of the hashes
     * @param context the backend
     */
    public PasswordChecks(PasswordFormat format, BackendContext context) {
        this.name = context.name();
        this.format = format;
        int count = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        int waiting = Math.max(1, context.config().maxConcurrent()); // no more are in flight
        threads = format.isSlow()
                ? Schedulers.newBoundedElastic(
                        count, waiting, "smqtt-access-" + name + "-hash", THREAD_IDLE_SECONDS, true)
                : Schedulers.immediate();
    }

    /**
     * Compares the password of a client with a stored hash. A client without a password, or with U+0000 in it, does not match.
     *
     * @param request the client
     * @param hash the stored hash
     * @param salt its salt, or null if it is not stored apart
     * @return exactly one answer; on a thread of the backend for hashes that are slow on purpose, else on the caller's
     */
    public Mono<Boolean> matches(BackendRequest request, String hash, @Nullable String salt) {
        byte[] password = request.password();
        if (password == null || hasNull(password)) {
            return Mono.just(false);
        }
        StoredHash stored;
        try {
            stored = format.parse(hash, salt);
        } catch (IllegalArgumentException e) {
            if (lines.allows("hash")) {
                LOG.warn(
                        "backend {}: the stored hash of user {} {}; the client is refused",
                        name,
                        LogText.escape(request.userName()),
                        e.getMessage());
            }
            return Mono.just(false);
        }
        return Mono.fromCallable(() -> check(stored, password))
                .subscribeOn(threads)
                .onErrorMap(
                        RejectedExecutionException.class,
                        error -> new BackendBusyException(name + ": too many passwords wait for their check", false));
    }

    private static boolean check(StoredHash stored, byte[] password) {
        try {
            return stored.matches(password);
        } catch (CancellationException e) {
            return false; // nobody sees it
        }
    }

    /** U+0000 is not told apart from the padding of an HMAC, and ends a password of bcrypt. */
    private static boolean hasNull(byte[] password) {
        for (byte b : password) {
            if (b == 0) {
                return true;
            }
        }
        return false;
    }

    /** Stops the threads. Does not block. */
    @Override
    public void close() {
        threads.dispose();
    }
}
