// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Knows which node owns a client identifier. On a single node nobody else can. */
@FunctionalInterface
public interface ClientDirectory {

    /** A directory of one node. */
    ClientDirectory LOCAL = (client, cleanStart) -> Mono.empty();

    /**
     * Claims a client identifier for this node, after the client was validated and authenticated and before its session is
     * opened. Called on an event loop: must not block.
     *
     * @param client the client
     * @param cleanStart whether an existing session is discarded
     * @return completes when the identifier is this node's; an error refuses the client
     */
    Mono<Void> claim(ClientIdentity client, boolean cleanStart);
}
