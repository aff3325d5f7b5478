// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import reactor.core.publisher.Mono;

/** Sees each message that a client publishes, after authorization and before routing, and may change or stop it. */
@FunctionalInterface
public interface PublishInterceptor {

    /**
     * Looks at a message. Called on an event loop: must not block. A client's next packets wait for the answer.
     *
     * @param client the publisher
     * @param message its message
     * @return exactly one answer; an error or an empty Mono stops the message with 0x83
     */
    Mono<Interception> intercept(ClientIdentity client, ApplicationMessage message);

    /** What becomes of the message. */
    sealed interface Interception {

        /**
         * The message goes on. Its publisher is acknowledged at the quality of service with which it sent the message,
         * whatever the changed one has.
         *
         * @param message the message, changed or not
         */
        record Forward(ApplicationMessage message) implements Interception {}

        /**
         * The message stops here.
         *
         * @param reason what the acknowledgement says; success to drop it silently
         */
        record Stop(ReasonCode reason) implements Interception {}
    }
}
