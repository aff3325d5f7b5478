// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.PublishFailedException;
import io.smqtt.message.ApplicationMessage;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Publishes messages to the broker of a rule. */
@FunctionalInterface
public interface SinkPublisher {

    /**
     * Publishes a message.
     *
     * @param message the message; access rules do not apply
     * @return completes when it is as safe as an acknowledged message of a client. Messages of one topic keep the order in which one thread
     *     subscribes
     */
    Mono<Void> publish(ApplicationMessage message);

    /**
     * Publishes several messages, which is cheaper than one after the other.
     *
     * @param messages the messages; access rules do not apply
     * @return completes when all are as safe as acknowledged messages of a client. If some of them were not taken, it fails with a
     *     {@link PublishFailedException} that names them, and the others are published; after any other failure, any of them may be. Messages of one
     *     topic keep their order
     */
    default Mono<Void> publishAll(List<ApplicationMessage> messages) {
        AtomicReference<String> reason = new AtomicReference<>("");
        return Flux.range(0, messages.size())
                .flatMapSequential(
                        i -> publish(messages.get(i))
                                .then(Mono.<Integer>empty())
                                .onErrorResume(error -> {
                                    reason.compareAndSet("", String.valueOf(error.getMessage()));
                                    return Mono.just(i);
                                }),
                        Math.max(1, messages.size()))
                .collectList()
                .flatMap(failed -> failed.isEmpty()
                        ? Mono.empty()
                        : Mono.error(new PublishFailedException(failed, String.valueOf(reason.get()))));
    }
}
