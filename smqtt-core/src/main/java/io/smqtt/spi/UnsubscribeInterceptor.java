// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Intercepts each filter of an UNSUBSCRIBE before the subscription is removed. */
@FunctionalInterface
public non-sealed interface UnsubscribeInterceptor extends Interceptor {

    /**
     * Intercepts one filter of an UNSUBSCRIBE. Called on an event loop: must not block.
     *
     * @param client the client
     * @param request the request
     * @return exactly one answer; a refusal needs an error code that is allowed in UNSUBACK. Before MQTT 5.0 there is no negative answer:
     *     the subscription stays although UNSUBACK is sent
     */
    Mono<Interception<UnsubscribeRequest>> interceptUnsubscribe(ClientIdentity client, UnsubscribeRequest request);
}
