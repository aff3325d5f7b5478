// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Decides which clients may connect. Several form a chain: the first answer that is not {@link Authentication#CONTINUE} decides. */
@FunctionalInterface
public interface Authenticator {

    /**
     * Authenticates a client. Called on an event loop: must not block. Slow work must run on another thread, and may complete the Mono
     * there.
     *
     * @param request the credentials of the client
     * @return exactly one answer; an error or an empty Mono refuses the client as server unavailable
     */
    Mono<Authentication> authenticate(AuthenticationRequest request);
}
