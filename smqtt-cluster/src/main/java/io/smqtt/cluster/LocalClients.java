// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.Will;
import io.smqtt.session.SessionArrival;
import io.smqtt.session.SessionDeparture;
import io.smqtt.session.SessionState;
import io.smqtt.session.UnservedStores;
import java.util.Collection;
import java.util.Iterator;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The sessions of the local broker, as the cluster node uses them. Must not block. */
@OnClusterLoop
interface LocalClients {

    /** The value of {@link #clockOf} without a session. */
    long NONE = -1;

    /**
     * Returns the clock of a session's claim.
     *
     * @return the cluster's clock, or {@link #NONE}
     */
    long clockOf(String clientId);

    /** Whether a node is away whose sessions may return: then more is remembered of what the sessions here take. Called with each tick. */
    void nodeAway(boolean away);

    /** Sets the clock of a session, if there is one. */
    void claimed(String clientId, long clock);

    /** See {@link io.smqtt.session.SessionRegistry#depart}. */
    void depart(String clientId, boolean discard, @Nullable String userName, SessionDeparture.Reply reply);

    /** Another node has claimed the client later: the session leaves as if the client had claimed it. */
    void bequeath(String clientId, SessionDeparture.Reply reply);

    /**
     * A session whose client is not connected.
     *
     * @param userName the user of the last connection, or null
     * @param will the will that waits for its delay, with the rest of the delay; null if there is none
     */
    record Absent(@Nullable String userName, Frame.@Nullable HeldWill will) {}

    /**
     * Looks up a session whose client is not connected, to offer it to another node. A will that waits is held until {@link #inheritWill},
     * so that not both publish it.
     *
     * @param reply called on any thread; null if there is no such session
     */
    void absent(String clientId, Consumer<@Nullable Absent> reply);

    /** The session has come, or stays, with a will that waits for its delay. Does nothing if the client is connected. */
    void inheritWill(String clientId, Frame.HeldWill will);

    /**
     * Looks up the client that has an exclusive subscription here.
     *
     * @param filter the filter without its prefix
     * @return its client identifier; null if none has
     */
    @Nullable
    String exclusiveHolder(String filter);

    /** Whether the session of a client is that of another node, which this one has adopted. */
    default boolean isAdopted(String clientId) {
        return false;
    }

    /** Whether the session of a client may move: not while messages that other nodes keep for it may still come. */
    default boolean mayMove(String clientId) {
        return true;
    }

    /** Whether sessions may be found in a moment that no node serves now; the nodes that are reached, this one included. */
    default boolean isAwaited(Collection<String> nodes) {
        return false;
    }

    /** The lookup of sessions in stores that no node serves. */
    default UnservedStores unserved() {
        return UnservedStores.NONE;
    }

    /** Whether a client has a session here, also one that is in the store of this node only. */
    default boolean hasSession(String clientId) {
        return clockOf(clientId) != NONE;
    }

    /** Whether a client has a session here that is in the store of this node. */
    default boolean isStored(String clientId) {
        return false;
    }

    /** Installs a session from another node, and replaces an existing one. */
    SessionArrival arrive(SessionState state);

    /** Merges a session from another node with an existing one. */
    SessionArrival merge(SessionState state);

    /** Publishes the will of a client of a failed node. */
    void publishWill(String clientId, @Nullable String userName, Will will);

    /**
     * The will of a client of this node was published elsewhere, or must not be published.
     *
     * @param will the will object of the session; null for a will of an earlier run of this node
     */
    void willSettledElsewhere(String clientId, @Nullable Will will);

    /**
     * Iterates over all sessions, with pauses.
     *
     * @return client identifiers; sessions that are created or end meanwhile may be included or not
     */
    Iterator<String> clientIds();
}
