// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import reactor.core.publisher.Mono;

/**
 * Sees each message that a client publishes, after authorization and before routing, and may change or stop it.
 *
 * <p>A changed message begins with {@link ApplicationMessage#toBuilder()}, which keeps what is not set:
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
 * <p>However a message was made, the broker gives it the publisher and the time of acceptance of the one that it takes the place
 * of: it expires as if the publisher had sent it so, and No Local applies to it. One of {@link ApplicationMessage#builder} that
 * says nothing of its expiry has the expiry interval of the other one, too.
 */
@FunctionalInterface
public non-sealed interface PublishInterceptor extends Interceptor {

    /**
     * Looks at a message. Called on an event loop: must not block. Its publisher is acknowledged at the quality of service with
     * which it sent the message, whatever the changed one has. A message that is stopped is acknowledged with the given reason;
     * success drops it silently. Before MQTT 5.0 an acknowledgement cannot tell of a refusal.
     *
     * @param client the publisher
     * @param message its message
     * @return exactly one answer
     */
    Mono<Interception<ApplicationMessage>> intercept(ClientIdentity client, ApplicationMessage message);
}
