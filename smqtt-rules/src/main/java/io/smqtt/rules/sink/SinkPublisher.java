// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.message.ApplicationMessage;
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
}
