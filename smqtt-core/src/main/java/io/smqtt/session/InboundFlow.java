// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.collection.IntObjectHashMap;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The receiver's half of QoS 2 (MQTT 5.0, section 4.3.3): packet identifiers of messages that were routed and wait for
 * PUBREL. As long as one waits, a PUBLISH with the same identifier is the same message again and is not routed. Messages
 * that a store or a peer has not yet made safe are unsettled: they must not be acknowledged, on whatever connection.
 */
@OnEventLoop
public final class InboundFlow {

    private final @Nullable SessionRecord record;
    private @Nullable BitSet awaitingRelease;
    private int count;
    private @Nullable IntObjectHashMap<Unsettled> unsettled;

    /**
     * Creates an empty one.
     *
     * @param record what the store has of the session; null if it is not stored
     */
    InboundFlow(@Nullable SessionRecord record) {
        this.record = record;
    }

    /**
     * Tells whether the message with this identifier was routed already.
     *
     * @param packetId 1 to 65,535
     * @return true until PUBREL
     */
    public boolean isAwaitingRelease(int packetId) {
        return awaitingRelease != null && awaitingRelease.get(packetId);
    }

    /**
     * Remembers a message that was routed.
     *
     * @param packetId 1 to 65,535
     */
    public void received(int packetId) {
        if (awaitingRelease == null) {
            awaitingRelease = new BitSet();
        }
        if (!awaitingRelease.get(packetId)) {
            awaitingRelease.set(packetId);
            count++;
        }
    }

    /** A packet identifier whose message is not yet safe, with the first and the last connection that wait for it. */
    private static final class Unsettled {
        private final RouteTicket origin;
        private @Nullable RouteTicket follower;

        private Unsettled(RouteTicket origin) {
            this.origin = origin;
        }
    }

    /**
     * Remembers a message that is being routed and that nobody may acknowledge before {@link #settled}.
     *
     * @param packetId 1 to 65,535
     * @param origin the ticket with which it is routed
     */
    public void receivedUnsettled(int packetId, RouteTicket origin) {
        received(packetId);
        if (unsettled == null) {
            unsettled = new IntObjectHashMap<>();
        }
        unsettled.put(packetId, new Unsettled(origin));
    }

    /**
     * Who will acknowledge a message when it is safe.
     *
     * @param packetId 1 to 65,535
     * @return the ticket that came last, or null if the message can be acknowledged now
     */
    public @Nullable RouteTicket awaiting(int packetId) {
        Unsettled entry = unsettled == null ? null : unsettled.get(packetId);
        if (entry == null) {
            return null;
        }
        return entry.follower == null ? entry.origin : entry.follower;
    }

    /**
     * Lets a ticket of another connection wait for an unsettled message, in place of the one that did.
     *
     * @param packetId that of an unsettled message
     * @param follower gives up one hold when the message is settled
     */
    public void follow(int packetId, RouteTicket follower) {
        Unsettled entry = unsettled == null ? null : unsettled.get(packetId);
        if (entry != null) {
            entry.follower = follower;
        }
    }

    /**
     * A message is safe, or could not be kept: then the client's next attempt is a new one.
     *
     * @param packetId 1 to 65,535
     * @param origin the ticket with which it was routed
     * @param kept whether it is safe
     */
    public void settled(int packetId, RouteTicket origin, boolean kept) {
        Unsettled entry = unsettled == null ? null : unsettled.get(packetId);
        if (entry == null || entry.origin != origin) {
            return; // released meanwhile
        }
        forget(packetId);
        if (!kept) {
            released(packetId);
        }
        if (entry.follower != null) {
            entry.follower.release(kept);
        }
    }

    private void forget(int packetId) {
        if (unsettled != null) {
            unsettled.remove(packetId);
            if (unsettled.isEmpty()) {
                unsettled = null;
            }
        }
    }

    /**
     * Forgets a message at its PUBREL.
     *
     * @param packetId 1 to 65,535
     * @return false if there was none
     */
    public boolean released(int packetId) {
        if (awaitingRelease == null || !awaitingRelease.get(packetId)) {
            return false;
        }
        awaitingRelease.clear(packetId);
        forget(packetId);
        if (--count == 0) {
            awaitingRelease = null;
        }
        return true;
    }

    /**
     * A QoS 2 message of the client has been routed. What subscribers store of it and the identifier become safe together.
     *
     * @param loop the event loop of the connection that the message came by, where this is called
     * @param packetId 1 to 65,535
     * @param operations what subscribers store of it
     * @param ticket is held until all is safe
     */
    public void store(StoreLoop loop, int packetId, Iterable<JointOperation> operations, RouteTicket ticket) {
        if (record != null) {
            record.received(loop, packetId, operations, ticket);
        }
    }

    /**
     * Forgets a message at its PUBREL, in the store as well [MQTT-4.3.3-11].
     *
     * @param packetId 1 to 65,535
     * @param waits whether this client waits for the store
     * @param stable whether it waits for stable storage
     * @param then what follows when the store has forgotten the identifier; at once in a session that is not stored
     */
    public void release(int packetId, boolean waits, boolean stable, Runnable then) {
        boolean known = released(packetId);
        if (record == null) {
            then.run();
        } else if (known) {
            record.released(packetId, waits, stable, then);
        } else { // released before, but maybe not yet forgotten
            record.await(waits, stable, kept -> then.run());
        }
    }

    /** Whether all that was routed is safe. */
    boolean isSettled() {
        return unsettled == null;
    }

    /** How many identifiers there is room for in what is kept. */
    int room() {
        return awaitingRelease == null ? 0 : awaitingRelease.size();
    }

    /** The identifiers that wait for PUBREL. */
    int[] identifiers() {
        return awaitingRelease == null ? new int[0] : awaitingRelease.stream().toArray();
    }

    /**
     * How many messages wait for PUBREL.
     *
     * @return messages
     */
    public int awaitingRelease() {
        return count;
    }
}
