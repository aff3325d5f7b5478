// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Sees each CONNECT, with its will, once the client is who it says and before anything is done for it. */
@FunctionalInterface
public non-sealed interface ConnectInterceptor extends Interceptor {

    /**
     * Looks at a CONNECT, also if it resumes a session. Called on an event loop: must not block.
     *
     * @param client who connects, as authentication has found
     * @param request what it asks for
     * @return exactly one answer; a refusal needs an error code that a CONNACK may carry
     */
    Mono<Interception<ConnectRequest>> interceptConnect(ClientIdentity client, ConnectRequest request);
}
