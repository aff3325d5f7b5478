// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.topic.TopicFilter;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;

/**
 * Decides which node owns a client identifier, and reports when other nodes know the routes of this one. On a single node it does nothing.
 */
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
     * @return completes when this node owns the identifier; {@link ClaimRefusedException} refuses the client with a reason, any other
     *     error without; cancelled if the connection ends before
     */
    Mono<Void> claim(ClientIdentity client, boolean cleanStart);

    /**
     * The same for a client whose session will or will not be stored. Called instead of {@link #claim(ClientIdentity, boolean)} for connections.
     *
     * @param client the client
     * @param cleanStart whether an existing session is discarded
     * @param stored whether a session that begins outlives its connection: a directory may refuse one that other nodes cannot know of
     * @return as {@link #claim(ClientIdentity, boolean)}
     */
    default Mono<Void> claim(ClientIdentity client, boolean cleanStart, boolean stored) {
        return claim(client, cleanStart);
    }

    /**
     * Ends a claim: the session is open, or will not be opened. Until then no other claim of the identifier is granted. Called on an event
     * loop, for each granted claim, and for one whose connection has ended before the decision; more than once if both happen at the same
     * time. Must not block.
     *
     * @param client the same object as in {@link #claim}
     */
    default void settled(ClientIdentity client) {}

    /**
     * Whether {@link #claimFilter} must be called for exclusive subscriptions. Read for each SUBSCRIBE.
     *
     * @return false if no other node has clients
     */
    default boolean claimsFilters() {
        return false;
    }

    /**
     * Claims a filter for an exclusive subscription, before it is made. Called on an event loop: must not block.
     *
     * @param filter the filter without its prefix
     * @param clientId the client
     * @param take claims it on this node, when no client of another node has it; on any thread
     * @return whether the client has the filter now
     */
    default Mono<Boolean> claimFilter(TopicFilter filter, String clientId, BooleanSupplier take) {
        return Mono.fromSupplier(take::getAsBoolean);
    }

    /**
     * Reports new subscriptions whose client waits for the SUBACK. Called on an event loop: must not block.
     *
     * @return completes when the SUBACK may be sent, and must not fail; an empty Mono if no other node needs to know
     */
    default Mono<Void> subscribed() {
        return Mono.empty();
    }

    /**
     * Whether {@link #subscribed} must be called. Read for each SUBSCRIBE, on its event loop: must not block.
     *
     * @return false if the SUBACK is sent at once
     */
    default boolean holdsSubAck() {
        return false;
    }
}
