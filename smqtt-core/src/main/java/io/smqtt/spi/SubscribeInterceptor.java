// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Intercepts each filter of a SUBSCRIBE before it is authorized. */
@FunctionalInterface
public non-sealed interface SubscribeInterceptor extends Interceptor {

    /**
     * Intercepts one filter of a SUBSCRIBE. Called on an event loop: must not block. If the filter is changed, the UNSUBSCRIBE of the
     * client must be changed in the same way ({@link UnsubscribeInterceptor}).
     *
     * @param client the client
     * @param request the request
     * @return exactly one answer; a refusal needs an error code that is allowed in SUBACK, and refuses this filter only
     */
    Mono<Interception<SubscribeRequest>> interceptSubscribe(ClientIdentity client, SubscribeRequest request);
}
