// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import reactor.core.publisher.Mono;

/**
 * Intercepts each message that a client publishes, after authorization and before routing, and may change or refuse it.
 *
 * <p>Create a changed message with {@link ApplicationMessage#toBuilder()}, which keeps all values that are not set:
 *
 * <pre>{@code
 * import io.smqtt.message.ApplicationMessage;
 * import io.smqtt.spi.Interception;
 * import io.smqtt.spi.PublishInterceptor;
 * import java.time.Duration;
 *
 * PublishInterceptor hour = (client, message) -> {
 *     ApplicationMessage changed = message.toBuilder().expiryInterval(Duration.ofHours(1)).build();
 *     return Interception.forward(changed).now();
 * };
 * }</pre>
 *
 * <p>The broker sets publisher and time of acceptance of the result to those of the original message: it expires as if the publisher had
 * sent it, and No Local applies. A message of {@link ApplicationMessage#builder} without an expiry also has the expiry interval of the
 * original.
 */
@FunctionalInterface
public non-sealed interface PublishInterceptor extends Interceptor {

    /**
     * Intercepts a message. Called on an event loop: must not block. The acknowledgement follows the QoS with which the publisher sent the
     * message, not that of the changed one. A refused message is acknowledged with the given reason; with the reason success it is dropped
     * silently. Before MQTT 5.0 an acknowledgement has no reason code.
     *
     * @param client the publisher
     * @param message its message
     * @return exactly one answer
     */
    Mono<Interception<ApplicationMessage>> intercept(ClientIdentity client, ApplicationMessage message);

    /**
     * Whether this interceptor would forward all messages as they are. While all interceptors are idle, no message is handed to them, and payloads stay in the
     * network buffers. Read for each message, on all event loops: must return at once. A change is in force for the messages that are received after it.
     *
     * @return false unless overridden
     */
    default boolean isIdle() {
        return false;
    }
}
