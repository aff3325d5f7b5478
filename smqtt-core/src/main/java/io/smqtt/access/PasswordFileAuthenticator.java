// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Ticker;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Checks user names and passwords against a password file. It answers for every client that names a user: an unknown user
 * is refused like a wrong password, after the same work.
 *
 * <p>Hashes are computed on threads of its own. When those are busy and their queue is full, further logins are refused
 * as server busy; a login whose client has gone leaves the queue.
 */
final class PasswordFileAuthenticator implements Authenticator, AutoCloseable {

    /** Longer passwords are nobody's and are not hashed. */
    static final int MAXIMUM_PASSWORD_BYTES = 1_024;

    private static final Mono<Authentication> CONTINUE = Authentication.CONTINUE.now();
    private static final Authentication BUSY = new Authentication.Refused(ReasonCode.SERVER_BUSY);

    /** Where a password meets a hash; a seam for tests. */
    @FunctionalInterface
    interface Verification {
        boolean verify(PasswordHash hash, byte[] password);
    }

    private final ThreadPoolExecutor hashing;
    private final Verification verification;
    private final byte[] secret = KeyedHash.randomBytes(KeyedHash.random(), 32);
    private final VerifiedPasswords verified;
    private volatile PasswordTable table;

    PasswordFileAuthenticator(PasswordTable table, int threads, int queue) {
        this(table, threads, queue, PasswordHash::matches, Ticker.SYSTEM);
    }

    PasswordFileAuthenticator(PasswordTable table, int threads, int queue, Verification verification, Ticker ticker) {
        this.table = table;
        this.verification = verification;
        verified = new VerifiedPasswords(KeyedHash.randomBytes(KeyedHash.random(), 32), ticker);
        BlockingQueue<Runnable> waiting = queue > 0 ? new ArrayBlockingQueue<>(queue) : new SynchronousQueue<>();
        hashing = new ThreadPoolExecutor(threads, threads, 30, TimeUnit.SECONDS, waiting, threads());
        hashing.allowCoreThreadTimeOut(true);
    }

    @Override
    public Mono<Authentication> authenticate(AuthenticationRequest request) {
        String userName = request.userName();
        if (userName == null) {
            return CONTINUE;
        }
        byte @Nullable [] password = request.password();
        if (password == null || password.length > MAXIMUM_PASSWORD_BYTES || holdsNull(password)) {
            return Authentication.refused().now();
        }
        PasswordHash hash = table.find(userName);
        if (hash != null && verified.contains(userName, password, hash)) {
            return Authentication.accepted(userName).now();
        }
        return Mono.create(sink -> enqueue(new Login(userName, password, sink)));
    }

    /** The users that count now. */
    PasswordTable table() {
        return table;
    }

    /** Makes other users count from now on, for logins that wait for their hash too. */
    void replace(PasswordTable users) {
        table = users;
        verified.clear();
    }

    /** Lets the hash that is being computed end and drops the logins that wait. */
    @Override
    public void close() {
        for (Runnable waiting : hashing.shutdownNow()) {
            if (waiting instanceof Login login) {
                login.sink.success(BUSY);
            }
        }
    }

    private void enqueue(Login login) {
        login.sink.onCancel(() -> hashing.remove(login));
        try {
            hashing.execute(login);
        } catch (RejectedExecutionException e) {
            login.sink.success(BUSY);
        }
    }

    private Authentication check(String userName, byte[] password) {
        PasswordHash hash = table.find(userName);
        boolean right = verification.verify(hash == null ? table.standIn(userName, secret) : hash, password);
        if (!right || hash == null || !isStillValid(userName, hash)) {
            return Authentication.refused();
        }
        verified.add(userName, password, hash);
        return Authentication.accepted(userName);
    }

    /** A reload while the hash was computed must not let a removed user in, nor turn an unchanged one away. */
    private boolean isStillValid(String userName, PasswordHash hash) {
        PasswordHash current = table.find(userName);
        return current == hash || (current != null && current.encoded().equals(hash.encoded()));
    }

    /** HMAC takes a password with U+0000 at its end for the same without, so that no such password is let near it. */
    private static boolean holdsNull(byte[] password) {
        for (byte b : password) {
            if (b == 0) {
                return true;
            }
        }
        return false;
    }

    private static ThreadFactory threads() {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, "smqtt-password-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    private final class Login implements Runnable {

        private final String userName;
        private final byte[] password;
        private final MonoSink<Authentication> sink;

        private Login(String userName, byte[] password, MonoSink<Authentication> sink) {
            this.userName = userName;
            this.password = password;
            this.sink = sink;
        }

        @Override
        public void run() {
            try {
                sink.success(check(userName, password));
            } catch (RuntimeException e) {
                sink.error(e);
            }
        }
    }
}
