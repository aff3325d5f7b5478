// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import reactor.core.publisher.Mono;

/** Knows which node owns a client identifier, and what other nodes know of this one. On a single node nobody else can. */
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
     * @return completes when the identifier is this node's; {@link ClaimRefusedException} refuses the client for a
     *     reason, any other error as well; cancelled if the connection ends before
     */
    Mono<Void> claim(ClientIdentity client, boolean cleanStart);

    /**
     * A claim has come to its end: the session is open, or will not be. Until then nobody else gets the identifier. Called
     * on an event loop, for each claim that was granted, and for one that is given up because its connection has ended
     * before it was decided; more than once if both happen at the same time. Must not block.
     *
     * @param client the very object that was given to {@link #claim}
     */
    default void settled(ClientIdentity client) {}

    /**
     * Subscriptions were made, and their client waits for the SUBACK. Called on an event loop: must not block.
     *
     * @return completes when the SUBACK may be sent, and must not fail; empty and finished if nobody needs to know
     */
    default Mono<Void> subscribed() {
        return Mono.empty();
    }

    /**
     * Tells whether {@link #subscribed} is to be asked at all. Asked once, at start.
     *
     * @return false if each SUBACK leaves at once
     */
    default boolean holdsSubAck() {
        return false;
    }
}
