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
     * The request goes on: to the next interceptor, or to the broker.
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
     * The request stops here.
     *
     * @param reason what the answer says
     * @param reasonString a text for people that an MQTT 5.0 client gets with it, if it wants such texts and its maximum packet
     *     size allows it; or null
     * @param <T> the request
     */
    record Stop<T>(ReasonCode reason, @Nullable String reasonString) implements Interception<T> {

        /** Refuses a null reason. */
        public Stop {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /**
     * Lets a request go on.
     *
     * @param request the request, changed or not
     * @param <T> the request
     * @return the answer
     */
    static <T> Interception<T> forward(T request) {
        return new Forward<>(request);
    }

    /**
     * Stops a request.
     *
     * @param reason what the answer says
     * @param <T> the request
     * @return the answer
     */
    static <T> Interception<T> stop(ReasonCode reason) {
        return new Stop<>(reason, null);
    }

    /**
     * Stops a request, with a text for people.
     *
     * @param reason what the answer says
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
