// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import reactor.core.Fuseable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** Answers of plugged-in parts that fail in one way only: by their error signal. */
@AnyThread
public final class GuardedAnswer {

    private GuardedAnswer() {}

    /**
     * Emits what an answer throws when it is subscribed to. Reactor throws errors that it takes for fatal, such as that of a class
     * which is missing, instead of emitting them; to the broker they are failures of the part that was asked, and of nothing else.
     *
     * @param answer the answer of a plugged-in part
     * @param <T> what it answers
     * @return the same answer
     */
    public static <T> Mono<T> of(Mono<T> answer) {
        if (answer instanceof Fuseable.ScalarCallable) { // nothing happens when it is subscribed to
            return answer;
        }
        return Mono.create(sink -> {
            try {
                sink.onDispose(
                        answer.subscribe(sink::success, sink::error, sink::success, Context.of(sink.contextView())));
            } catch (LinkageError | StackOverflowError e) {
                sink.error(e);
            }
        });
    }
}
