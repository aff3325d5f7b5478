// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import java.util.EnumSet;
import java.util.Set;

/**
 * The phase of a session's life. {@link #followers()} is the table of transitions. A transition that is not in it fails
 * with an {@link IllegalStateException} and leaves the session unchanged. The phase determines whether there is a
 * connection, except in {@link #RESUMING} and {@link #MOVING}, during which a connection may begin and end.
 *
 * <p>Holding back messages ({@link HeldMessages}) is not a phase because it is possible in any phase: a session of another
 * node can arrive for a client that is connected, absent or moving.
 */
@AnyThread
enum SessionPhase {

    /**
     * New, for a client of this node. Waits for the removal of the previous session and for the commit of this one. It has
     * no client yet.
     */
    OPENING,

    /** The client is connected. */
    CONNECTED,

    /** The client is not connected; the will delay and the session expiry interval run. */
    ABSENT,

    /** A client claims the stored session, and this is not committed yet. The old connection may last until then. */
    RESUMING,

    /** On the new event loop, after a takeover: deliveries by the old loop are still arriving. */
    MOVING,

    /** Moving to another node. */
    DEPARTING,

    /** Removed from the registry. */
    ENDED;

    /** The phases that may follow this one. */
    Set<SessionPhase> followers() {
        return switch (this) {
            case OPENING -> EnumSet.of(CONNECTED, ENDED);
            case CONNECTED -> EnumSet.of(ABSENT, RESUMING);
            case ABSENT -> EnumSet.of(CONNECTED, RESUMING, MOVING, DEPARTING, ENDED);
            case RESUMING -> EnumSet.of(CONNECTED, ABSENT, MOVING, ENDED);
            case MOVING -> EnumSet.of(CONNECTED, ABSENT, ENDED);
            case DEPARTING -> EnumSet.of(ABSENT, ENDED);
            case ENDED -> EnumSet.noneOf(SessionPhase.class);
        };
    }

    /** Whether a session in this phase may have, or lack, a connection. */
    boolean allows(boolean connection) {
        return switch (this) {
            case CONNECTED -> connection;
            case RESUMING, MOVING -> true;
            case OPENING, ABSENT, DEPARTING, ENDED -> !connection;
        };
    }
}
