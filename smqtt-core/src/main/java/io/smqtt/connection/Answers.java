// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.GuardedAnswer;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Fuseable;
import reactor.core.publisher.Mono;

/**
 * Receives the answers of extensions. An answer that is available is handled at once, in the call; no operator and no timer is created for
 * it. Another one is handled later on the connection's event loop.
 */
final class Answers {

    private static final Logger LOG = LoggerFactory.getLogger(Answers.class);

    /** A timeout, after which an extension counts as failed, so that no connection waits forever. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final LogLimiter FAILURES = new LogLimiter(LOG, Level.WARN, 1);

    private Answers() {}

    /**
     * The value of a Mono that is already available.
     *
     * @return null if the value is not available
     */
    @SuppressWarnings("unchecked")
    static <T> @Nullable T atHand(Mono<T> mono) {
        if (!(mono instanceof Fuseable.ScalarCallable<?> finished)) {
            return null;
        }
        try {
            return (T) finished.call();
        } catch (Exception | LinkageError | StackOverflowError e) { // the caller subscribes and gets the error there
            LOG.trace("the answer is an error", e);
            return null;
        }
    }

    /**
     * Whether a Mono without a value is already complete.
     *
     * @return false if it is not, or if it is an error
     */
    static boolean isComplete(Mono<Void> mono) {
        if (!(mono instanceof Fuseable.ScalarCallable<?> finished)) {
            return false;
        }
        try {
            return finished.call() == null;
        } catch (Exception | LinkageError | StackOverflowError e) { // the caller subscribes and gets the error there
            LOG.trace("the answer is an error", e);
            return false;
        }
    }

    /**
     * Stops decoding until the answer has arrived and has been handled.
     *
     * @param fallback the answer if the Mono fails, is empty, or takes longer than half a minute
     */
    static <T> void await(Connection connection, Mono<T> mono, T fallback, Consumer<T> then) {
        ask(connection, mono, fallback, then, answer -> {});
    }

    /**
     * Like {@link #await}, with a function for failures.
     *
     * @param onFailure returns the answer if the Mono fails, is empty, or takes longer than half a minute; any thread
     */
    static <T> void awaitOrElse(
            Connection connection, Mono<T> mono, Function<Throwable, T> onFailure, Consumer<T> then) {
        Mono<T> answered = mono.timeout(PATIENCE)
                .switchIfEmpty(Mono.error(NoSuchElementException::new))
                .onErrorResume(error -> Mono.just(onFailure.apply(error)));
        connection.await();
        answered.subscribe(answer ->
                connection.loop().routing().executor().execute(() -> take(connection, answer, then, late -> {})));
    }

    /**
     * Like {@link #await}, for an answer that must be handled in any case.
     *
     * @param gone takes the answer instead if the connection has ended in the meantime
     * @return cancels the question when it is disposed of: no answer arrives, unless it is already in flight; disposed if the answer has
     *     been handled
     */
    static <T> Disposable ask(Connection connection, Mono<T> mono, T fallback, Consumer<T> then, Consumer<T> gone) {
        T known = atHand(mono);
        if (known != null) {
            then.accept(known);
            return Disposables.disposed();
        }
        connection.await();
        return GuardedAnswer.of(mono)
                .timeout(PATIENCE)
                .onErrorResume(error -> {
                    warn(connection, error);
                    return Mono.just(fallback);
                })
                .defaultIfEmpty(fallback)
                .subscribe(answer ->
                        connection.loop().routing().executor().execute(() -> take(connection, answer, then, gone)));
    }

    /** Each kind of failure once a minute: all connections may fail together. */
    private static void warn(Connection connection, Throwable error) {
        if (!FAILURES.allows(error.getClass().getName())) {
            return;
        }
        if (error instanceof TimeoutException) { // its stack says nothing
            LOG.warn("an extension gave no answer for {} within {} s", connection.name(), PATIENCE.toSeconds());
        } else {
            LOG.warn("an extension failed for {}", connection.name(), error);
        }
    }

    private static <T> void take(Connection connection, T answer, Consumer<T> then, Consumer<T> gone) {
        connection.answered();
        if (connection.isClosing()) { // ended in the meantime
            gone.accept(answer);
            return;
        }
        try {
            then.accept(answer);
        } catch (RuntimeException e) { // as in decoding: a defect ends only this connection
            LOG.error("handling the answer of an extension for {} failed", connection.name(), e);
            connection.disconnect(ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR);
        }
        connection.proceed();
    }
}
