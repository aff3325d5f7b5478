// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The decision of an {@link Interceptor} on a request.
 *
 * @param <T> the request
 */
public sealed interface Interception<T> {

    /**
     * The request is passed to the next interceptor, or to the broker.
     *
     * @param request the request, changed or not
     * @param <T> the request
     */
    record Forward<T>(T request) implements Interception<T> {

        /** Refuses null. */
        public Forward {
            Objects.requireNonNull(request, "request");
        }
    }

    /**
     * The request is refused.
     *
     * @param reason the reason code of the answer
     * @param reasonString a text that an MQTT 5.0 client gets with it, unless it has disabled Problem Information or its Maximum Packet
     *     Size is too small; or null
     * @param <T> the request
     */
    record Stop<T>(ReasonCode reason, @Nullable String reasonString) implements Interception<T> {

        /** Refuses a null reason. */
        public Stop {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /**
     * Forwards a request.
     *
     * @param request the request, changed or not
     * @param <T> the request
     * @return the answer
     */
    static <T> Interception<T> forward(T request) {
        return new Forward<>(request);
    }

    /**
     * Refuses a request.
     *
     * @param reason the reason code of the answer
     * @param <T> the request
     * @return the answer
     */
    static <T> Interception<T> stop(ReasonCode reason) {
        return new Stop<>(reason, null);
    }

    /**
     * Refuses a request with a Reason String.
     *
     * @param reason the reason code of the answer
     * @param reasonString the Reason String of the answer
     * @param <T> the request
     * @return the answer
     */
    static <T> Interception<T> stop(ReasonCode reason, String reasonString) {
        return new Stop<>(reason, reasonString);
    }

    /**
     * The answer as an already finished Mono: the broker reads it without subscribing.
     *
     * @return a Mono of this answer
     */
    default Mono<Interception<T>> now() {
        return Mono.just(this);
    }
}
