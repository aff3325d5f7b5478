// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Decides who may connect. Several form a chain: the first answer that is not {@link Authentication#CONTINUE} counts. */
@FunctionalInterface
public interface Authenticator {

    /**
     * Looks at a client. Called on an event loop: must not block; slow work goes elsewhere and completes the Mono on any
     * thread.
     *
     * @param request what the client says of itself
     * @return exactly one answer; an error or an empty Mono refuses the client as server unavailable
     */
    Mono<Authentication> authenticate(AuthenticationRequest request);
}
