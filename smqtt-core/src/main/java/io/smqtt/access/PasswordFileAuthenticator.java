// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.config.AccessConfig;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientNetwork;
import io.smqtt.spi.Ticker;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * Verifies user names and passwords with a password file. It decides for every client with a user name: an unknown user is refused like a
 * wrong password, after the same work.
 *
 * <p>Hashes are computed on threads of its own; client networks and user names take turns ({@link LoginQueue}). A login whose client has
 * disconnected leaves the queue. Refusals of a network that sends many wrong passwords are delayed ({@link FailedLogins}).
 */
final class PasswordFileAuthenticator implements Authenticator, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PasswordFileAuthenticator.class);

    /** Maximum length of a password. Longer ones are refused without a hash. */
    static final int MAXIMUM_PASSWORD_BYTES = 1_024;

    private static final Mono<Authentication> CONTINUE = Authentication.CONTINUE.now();
    private static final Authentication BUSY = new Authentication.Refused(ReasonCode.SERVER_BUSY);

    /** Verifies a password against a hash; replaced in tests. */
    @FunctionalInterface
    interface Verification {
        boolean verify(PasswordHash hash, byte[] password);
    }

    /** Runs delayed refusals; replaced in tests. */
    @FunctionalInterface
    interface Delays {
        Disposable run(Runnable task, long millis);
    }

    /** The network of clients with an unknown address. */
    private static final Object UNKNOWN = new Object();

    private final int threads;
    private final ThreadPoolExecutor hashing;
    private final Verification verification;
    private final Delays delays;
    private final FailedLogins failures;
    private final BrokerObserver observer;
    private final byte[] secret = KeyedHash.randomBytes(KeyedHash.random(), 32);
    private final VerifiedPasswords verified;
    private final LoginQueue<Login> waiting; // and the two below, under its lock
    private int working;
    private boolean closed;
    private volatile PasswordTable table;

    PasswordFileAuthenticator(PasswordTable table, AccessConfig config, BrokerObserver observer) {
        this(
                table,
                config,
                observer,
                PasswordHash::matches,
                Ticker.SYSTEM,
                (task, millis) -> Schedulers.parallel().schedule(task, millis, TimeUnit.MILLISECONDS));
    }

    PasswordFileAuthenticator(
            PasswordTable table,
            AccessConfig config,
            BrokerObserver observer,
            Verification verification,
            Ticker ticker,
            Delays delays) {
        this.table = table;
        this.observer = observer;
        this.verification = verification;
        this.delays = delays;
        threads = config.hashThreads();
        waiting = new LoginQueue<>(config.hashQueue());
        failures = new FailedLogins(config.failedLogins(), config.failedLoginDelay(), ticker);
        verified = new VerifiedPasswords(KeyedHash.randomBytes(KeyedHash.random(), 32), ticker);
        hashing = new ThreadPoolExecutor(
                threads, threads, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threadFactory());
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
        InetAddress address = request.remoteAddress().getAddress();
        Object network = address == null ? UNKNOWN : ClientNetwork.of(address);
        return Mono.create(sink -> enqueue(new Login(network, userName, password, sink)));
    }

    /** The users in force. */
    PasswordTable table() {
        return table;
    }

    /** Replaces the users, also for logins that wait for their hash. */
    void replace(PasswordTable users) {
        table = users;
        verified.clear();
    }

    /** Waits for no further hash: the present one completes, waiting logins are refused. */
    @Override
    public void close() {
        List<Login> dropped = new ArrayList<>();
        synchronized (waiting) {
            closed = true;
            for (Login next = waiting.poll(); next != null; next = waiting.poll()) {
                dropped.add(next);
            }
        }
        hashing.shutdown();
        dropped.forEach(login -> login.sink.success(BUSY));
    }

    private void enqueue(Login login) {
        login.sink.onCancel(() -> withdraw(login));
        Login refused;
        boolean starts = false;
        synchronized (waiting) {
            if (closed) {
                refused = login;
            } else {
                refused = login.gone ? null : waiting.offer(login.network, login.userName, login);
                starts = working < threads && waiting.size() > 0;
                working += starts ? 1 : 0;
            }
            observer.passwordsWaiting(waiting.size());
        }
        if (starts) {
            try {
                hashing.execute(this::work);
            } catch (RejectedExecutionException e) { // closed in the meantime; waiting logins have been refused
                LOG.debug("closed: no further passwords are checked", e);
            }
        }
        if (refused != null) {
            answer(refused, BUSY, failures.busyMillis(refused.network));
        }
    }

    private void withdraw(Login login) {
        synchronized (waiting) {
            login.gone = true;
            waiting.remove(login.network, login.userName, login);
            observer.passwordsWaiting(waiting.size());
        }
    }

    /** Processes the queue until it is empty. */
    private void work() {
        boolean ended = false;
        try {
            for (Login next = take(); next != null; next = take()) {
                verify(next);
            }
            ended = true;
        } finally {
            if (!ended) { // an error, which ends the thread
                synchronized (waiting) {
                    working--;
                }
            }
        }
    }

    private @Nullable Login take() {
        synchronized (waiting) {
            Login next = waiting.poll();
            working -= next == null ? 1 : 0;
            observer.passwordsWaiting(waiting.size());
            return next;
        }
    }

    private void verify(Login login) {
        try {
            Authentication outcome = check(login.userName, login.password);
            boolean right = outcome instanceof Authentication.Accepted;
            answer(login, outcome, right ? 0 : failures.failed(login.network));
        } catch (RuntimeException e) {
            login.sink.error(e);
        }
    }

    private void answer(Login login, Authentication outcome, long delayMillis) {
        MonoSink<Authentication> sink = login.sink;
        if (delayMillis == 0) {
            sink.success(outcome);
            return;
        }
        observer.refusalDelayed();
        sink.onDispose(delays.run(() -> sink.success(outcome), delayMillis));
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

    /** Whether the hash is still in force. A reload during the computation must neither accept a removed user nor refuse an unchanged one. */
    private boolean isStillValid(String userName, PasswordHash hash) {
        PasswordHash current = table.find(userName);
        return current == hash || (current != null && current.encoded().equals(hash.encoded()));
    }

    /** Whether a password contains U+0000. HMAC treats a password with U+0000 at its end like the same one without. */
    private static boolean holdsNull(byte[] password) {
        for (byte b : password) {
            if (b == 0) {
                return true;
            }
        }
        return false;
    }

    private static ThreadFactory threadFactory() {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, "smqtt-password-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    private static final class Login {

        private final Object network;
        private final String userName;
        private final byte[] password;
        private final MonoSink<Authentication> sink;
        private boolean gone; // guarded by the lock of the queue

        private Login(Object network, String userName, byte[] password, MonoSink<Authentication> sink) {
            this.network = network;
            this.userName = userName;
            this.password = password;
            this.sink = sink;
        }
    }
}
