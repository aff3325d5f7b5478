// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.Will;
import io.smqtt.session.SessionArrival;
import io.smqtt.session.SessionDeparture;
import io.smqtt.session.SessionState;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** The sessions of the local broker, as the cluster node uses them. Must not block. */
@OnClusterLoop
interface LocalClients {

    /** What {@link #clockOf} says where there is no session. */
    long NONE = -1;

    /**
     * When a session was claimed.
     *
     * @return the cluster's clock, or {@link #NONE}
     */
    long clockOf(String clientId);

    /** A session, if there is one, was claimed. */
    void claimed(String clientId, long clock);

    /** See {@link io.smqtt.session.SessionRegistry#depart}. */
    void depart(String clientId, boolean discard, @Nullable String userName, SessionDeparture.Reply reply);

    /** Another node has claimed the client later: the session leaves like one that is claimed by the client itself. */
    void bequeath(String clientId, SessionDeparture.Reply reply);

    /** A session comes from another node, in the place of one that there may be. */
    SessionArrival arrive(SessionState state);

    /** A session comes from another node, and becomes one with that which there may be. */
    SessionArrival merge(SessionState state);

    /** Publishes the will of a client of a node that is gone. */
    void publishWill(String clientId, @Nullable String userName, Will will);

    /**
     * The will of a client of this node was published elsewhere, or is not to be published.
     *
     * @param will the will, the object that the session has; null for one of an earlier run of this node
     */
    void willSettledElsewhere(String clientId, @Nullable Will will);

    /**
     * Walks through all sessions, with pauses if need be.
     *
     * @return client identifiers; those of sessions that come or go meanwhile may be among them or not
     */
    Iterator<String> clientIds();
}
