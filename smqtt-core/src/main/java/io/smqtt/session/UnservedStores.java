// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The lookup of sessions in stores that no node serves now, in the rows that a node with replicas has of them. Decides whether a session that is found
 * nowhere may begin. No method blocks.
 */
@AnyThread
public interface UnservedStores {

    /** Without replicas: all that is stored and can be reached is served. */
    UnservedStores NONE = new UnservedStores() {};

    /**
     * Whether a store is about to be served that no node serves now: clients wait for it.
     *
     * @param nodes the nodes that are reached, this one included
     * @return false if all sessions that can be served are served
     */
    default boolean isAwaited(Collection<String> nodes) {
        return false;
    }

    /**
     * Whether stored sessions are begun on one side of a partition only, so that a claim has to know which nodes have confirmed it.
     *
     * @return false without replicas
     */
    default boolean isGuarded() {
        return false;
    }

    /**
     * Whether this node serves its own store, or is about to.
     *
     * @return false while it reaches no majority of its replicas: its sessions cannot move or end
     */
    default boolean isOwnServed() {
        return true;
    }

    /**
     * Decides whether a stored session may begin on this side of a partition.
     *
     * @param nodes the nodes that have confirmed that they have no session of the client; this one need not be among them
     * @return null if it may; otherwise why it may not, a text for the client
     */
    default @Nullable String refusal(Collection<String> nodes) {
        return null;
    }

    /**
     * Looks for a session in stores that no node serves, and that are not about to be served.
     *
     * @param clientId the client identifier
     * @param nodes the nodes that are reached, this one included
     * @return the result; not complete while rows are being read
     */
    default Lookup find(String clientId, Collection<String> nodes) {
        return Lookup.NOTHING;
    }

    /**
     * The result of {@link #find}.
     *
     * @param isComplete false if rows are being read: to be asked again
     * @param home the node whose store has a session of the client; null if none has, or if that is not known yet
     */
    record Lookup(boolean isComplete, @Nullable String home) {

        /** There is no such session. */
        public static final Lookup NOTHING = new Lookup(true, null);

        /** That is not known yet. */
        public static final Lookup UNKNOWN = new Lookup(false, null);
    }
}
