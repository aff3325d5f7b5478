// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.GuardedAnswer;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Fuseable;
import reactor.core.publisher.Mono;

/** Takes the answers of plugged-in parts: at once where they are at hand, else on the connection's event loop. */
final class Answers {

    private static final Logger LOG = LoggerFactory.getLogger(Answers.class);

    /** A part that has not answered by then is taken for one that failed: nothing hangs for good. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private Answers() {}

    /**
     * The value of a Mono that is finished.
     *
     * @return null if the value is not at hand
     */
    @SuppressWarnings("unchecked")
    static <T> @Nullable T atHand(Mono<T> mono) {
        if (!(mono instanceof Fuseable.ScalarCallable<?> finished)) {
            return null;
        }
        try {
            return (T) finished.call();
        } catch (Exception | LinkageError | StackOverflowError e) { // the caller subscribes and meets the error there
            LOG.trace("the answer is an error", e);
            return null;
        }
    }

    /**
     * Lets the connection decode nothing more until the answer is here and was dealt with.
     *
     * @param fallback the answer if the Mono fails, is empty, or takes longer than half a minute
     */
    static <T> void await(Connection connection, Mono<T> mono, T fallback, Consumer<T> then) {
        ask(connection, mono, fallback, then, answer -> {});
    }

    /**
     * The same, for a part whose failure is told to somebody.
     *
     * @param onFailure gives the answer if the Mono fails, is empty, or takes longer than half a minute; any thread
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
     * The same, for an answer that must be dealt with in any case.
     *
     * @param gone takes the answer instead if the connection has ended meanwhile
     * @return disposed of, lets the question go: no answer comes, unless it is on its way already
     */
    static <T> Disposable ask(Connection connection, Mono<T> mono, T fallback, Consumer<T> then, Consumer<T> gone) {
        connection.await();
        return GuardedAnswer.of(mono)
                .timeout(PATIENCE)
                .onErrorResume(error -> {
                    LOG.warn("an extension failed for {}", connection.name(), error);
                    return Mono.just(fallback);
                })
                .defaultIfEmpty(fallback)
                .subscribe(answer ->
                        connection.loop().routing().executor().execute(() -> take(connection, answer, then, gone)));
    }

    private static <T> void take(Connection connection, T answer, Consumer<T> then, Consumer<T> gone) {
        connection.answered();
        if (connection.isClosing()) { // gone while it waited
            gone.accept(answer);
            return;
        }
        try {
            then.accept(answer);
        } catch (RuntimeException e) { // as in decoding: a defect ends this connection alone
            LOG.error("handling the answer of an extension for {} failed", connection.name(), e);
            connection.disconnect(ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR);
        }
        connection.proceed();
    }
}
