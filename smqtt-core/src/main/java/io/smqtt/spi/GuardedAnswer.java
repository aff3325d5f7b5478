// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import reactor.core.Fuseable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** Converts all failures of plugged-in parts to error signals. */
@AnyThread
public final class GuardedAnswer {

    private GuardedAnswer() {}

    /**
     * Converts an exception of the subscription to an error signal. Reactor throws errors that it considers fatal, such as a missing
     * class, instead of emitting them; to the broker they are failures of the called part only.
     *
     * @param answer the answer of a plugged-in part
     * @param <T> the type of the answer
     * @return the same answer
     */
    public static <T> Mono<T> of(Mono<T> answer) {
        if (answer instanceof Fuseable.ScalarCallable) { // its subscription runs no code
            return answer;
        }
        return Mono.create(sink -> {
            try {
                // one signal: a completion after it would discard a value that waits for its request
                sink.onDispose(answer.singleOptional()
                        .subscribe(
                                value -> sink.success(value.orElse(null)),
                                sink::error,
                                null,
                                Context.of(sink.contextView())));
            } catch (LinkageError | StackOverflowError e) {
                sink.error(e);
            }
        });
    }
}
