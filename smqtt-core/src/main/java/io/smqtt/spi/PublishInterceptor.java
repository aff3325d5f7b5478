// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import reactor.core.publisher.Mono;

/**
 * Sees each message that a client publishes, after authorization and before routing, and may change or stop it. Interceptors are
 * asked in their order; each sees what the one before has made of the message.
 *
 * <p>A changed message begins with {@link ApplicationMessage#toBuilder()}, which keeps what is not set:
 *
 * <pre>{@code
 * import io.smqtt.message.ApplicationMessage;
 * import io.smqtt.spi.PublishInterceptor;
 * import io.smqtt.spi.PublishInterceptor.Interception;
 * import java.time.Duration;
 * import reactor.core.publisher.Mono;
 *
 * PublishInterceptor hour = (client, message) -> {
 *     ApplicationMessage changed = message.toBuilder().expiryInterval(Duration.ofHours(1)).build();
 *     return Mono.just(new Interception.Forward(changed));
 * };
 * }</pre>
 */
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
         * <p>However the message was made, the broker gives it the publisher and the time of acceptance of the one that it takes
         * the place of: it expires as if the publisher had sent it so, and No Local applies to it. One of
         * {@link ApplicationMessage#builder} that says nothing of its expiry has the expiry interval of the other one, too.
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
