// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Sees each filter of a SUBSCRIBE before it is authorized. */
@FunctionalInterface
public non-sealed interface SubscribeInterceptor extends Interceptor {

    /**
     * Looks at one filter of a SUBSCRIBE. Called on an event loop: must not block. Whoever changes a filter must map the
     * UNSUBSCRIBE of the client in the same way ({@link UnsubscribeInterceptor}).
     *
     * @param client the client
     * @param request what it asks for
     * @return exactly one answer; a refusal needs an error code that a SUBACK may carry, and refuses this filter alone
     */
    Mono<Interception<SubscribeRequest>> interceptSubscribe(ClientIdentity client, SubscribeRequest request);
}
