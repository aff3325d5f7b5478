// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.message.ApplicationMessage;
import java.util.List;
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
     * @return completes when all are as safe as acknowledged messages of a client; fails if one of them was not taken, and others may have been
     *     published then. Messages of one topic keep their order
     */
    default Mono<Void> publishAll(List<ApplicationMessage> messages) {
        return Flux.fromIterable(messages)
                .flatMapSequential(this::publish, Math.max(1, messages.size()))
                .then();
    }
}
