// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Sees each filter of an UNSUBSCRIBE before the subscription is removed. */
@FunctionalInterface
public non-sealed interface UnsubscribeInterceptor extends Interceptor {

    /**
     * Looks at one filter of an UNSUBSCRIBE. Called on an event loop: must not block.
     *
     * @param client the client
     * @param request what it wants to end
     * @return exactly one answer; a refusal needs an error code that an UNSUBACK may carry. Before MQTT 5.0 there is no negative
     *     answer: the subscription stays and the UNSUBACK cannot say so
     */
    Mono<Interception<UnsubscribeRequest>> interceptUnsubscribe(ClientIdentity client, UnsubscribeRequest request);
}
