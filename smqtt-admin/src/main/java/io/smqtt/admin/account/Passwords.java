// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import io.smqtt.access.PasswordText;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Hashes passwords on a thread of its own. Of all requests together at most 16 wait. */
@AnyThread
final class Passwords {

    private static final int WAITING = 16;
    private static final int IDLE_SECONDS = 60;
    private static final int MIN_LENGTH = 8;
    private static final int MAX_BYTES = 1_024;

    private final int iterations;
    private final Scheduler worker = Schedulers.newBoundedElastic(1, WAITING, "smqtt-passwords", IDLE_SECONDS, true);

    /** The hash of a random password, so that an unknown user takes as long as a wrong password. */
    private final Mono<String> unknownUser;

    Passwords(int iterations) {
        this.iterations = iterations;
        this.unknownUser = run(() -> PasswordText.hash(bytes(Secrets.random(16)), iterations))
                .cache();
    }

    /** Too many passwords wait. */
    static final class BusyException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        BusyException() {
            super("too many logins at a time", null, false, false);
        }
    }

    private <T> Mono<T> run(Callable<T> task) {
        return Mono.fromCallable(task)
                .subscribeOn(worker)
                .onErrorMap(RejectedExecutionException.class, error -> new BusyException());
    }

    /**
     * Hashes a new password.
     *
     * @throws InvalidFieldException if it is too short or too long
     */
    Mono<String> hash(String password) {
        byte[] bytes = bytes(password);
        if (password.length() < MIN_LENGTH || bytes.length > MAX_BYTES || password.indexOf(0) >= 0) {
            throw new InvalidFieldException(
                    "a password has at least " + MIN_LENGTH + " characters and at most " + MAX_BYTES + " bytes");
        }
        return run(() -> PasswordText.hash(bytes, iterations));
    }

    /** Compares a password; null for an unknown user. */
    Mono<Boolean> matches(String password, @Nullable String hash) {
        byte[] bytes = bytes(password);
        if (bytes.length > MAX_BYTES) {
            return Mono.just(false);
        }
        return hash == null
                ? unknownUser
                        .flatMap(other -> run(() -> PasswordText.matches(bytes, other)))
                        .thenReturn(false)
                : run(() -> PasswordText.matches(bytes, hash));
    }

    private static byte[] bytes(String password) {
        return password.getBytes(StandardCharsets.UTF_8);
    }

    void close() {
        worker.dispose();
    }
}
