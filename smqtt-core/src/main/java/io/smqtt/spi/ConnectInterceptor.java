// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Intercepts each CONNECT, with its will, after authentication and before any other processing. */
@FunctionalInterface
public non-sealed interface ConnectInterceptor extends Interceptor {

    /**
     * Intercepts a CONNECT, also one that resumes a session. Called on an event loop: must not block.
     *
     * @param client the authenticated client
     * @param request the request
     * @return exactly one answer; a refusal needs an error code that is allowed in CONNACK
     */
    Mono<Interception<ConnectRequest>> interceptConnect(ClientIdentity client, ConnectRequest request);
}
