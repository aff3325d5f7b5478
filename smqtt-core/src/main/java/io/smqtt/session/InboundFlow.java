// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The receiver's half of QoS 2 (MQTT 5.0, section 4.3.3): packet identifiers of messages that were routed and await PUBREL.
 * While an identifier awaits PUBREL, a PUBLISH with it is a retransmission and is not routed. Messages that a store or a
 * peer has not committed yet are unsettled: they must not be acknowledged on any connection.
 */
@OnEventLoop
public final class InboundFlow {

    private final @Nullable SessionRecord record;
    private @Nullable BitSet awaitingRelease;
    private int count;
    private @Nullable IntObjectHashMap<Unsettled> unsettled;

    /**
     * Creates an empty flow.
     *
     * @param record the stored part of the session; null if it is not stored
     */
    InboundFlow(@Nullable SessionRecord record) {
        this.record = record;
    }

    /**
     * Returns whether the message with this identifier was already routed.
     *
     * @param packetId 1 to 65,535
     * @return true until PUBREL
     */
    public boolean isAwaitingRelease(int packetId) {
        return awaitingRelease != null && awaitingRelease.get(packetId);
    }

    /**
     * Records a message that was routed.
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

    /** A packet identifier of an uncommitted message, with the first and the last connection that wait for it. */
    private static final class Unsettled {
        private final RouteTicket origin;
        private @Nullable RouteTicket follower;

        private Unsettled(RouteTicket origin) {
            this.origin = origin;
        }
    }

    /**
     * Records a message that is being routed and must not be acknowledged before {@link #settled}.
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
     * Returns the ticket that acknowledges a message when it is committed.
     *
     * @param packetId 1 to 65,535
     * @return the latest ticket, or null if the message can be acknowledged now
     */
    public @Nullable RouteTicket awaiting(int packetId) {
        Unsettled entry = unsettled == null ? null : unsettled.get(packetId);
        if (entry == null) {
            return null;
        }
        return entry.follower == null ? entry.origin : entry.follower;
    }

    /**
     * Makes a ticket of another connection wait for an unsettled message, in place of the previous ticket.
     *
     * @param packetId the identifier of an unsettled message
     * @param follower gives up one hold when the message is settled
     */
    public void follow(int packetId, RouteTicket follower) {
        Unsettled entry = unsettled == null ? null : unsettled.get(packetId);
        if (entry != null) {
            entry.follower = follower;
        }
    }

    /**
     * Completes a message, which is committed or could not be kept. If not, the client's next attempt is a new message.
     *
     * @param packetId 1 to 65,535
     * @param origin the ticket with which it was routed
     * @param kept whether it is committed
     */
    public void settled(int packetId, RouteTicket origin, boolean kept) {
        Unsettled entry = unsettled == null ? null : unsettled.get(packetId);
        if (entry == null || entry.origin != origin) {
            return; // released in the meantime
        }
        forget(packetId);
        if (!kept) {
            released(packetId);
            if (record != null) {
                record.refused(packetId);
            }
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
     * Forgets an identifier at its PUBREL.
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
     * Stores the identifier of a routed QoS 2 message. The subscribers' copies and the identifier are committed together.
     *
     * @param loop the event loop of the publishing connection, which is the current one
     * @param packetId 1 to 65,535
     * @param operations what subscribers store for the message
     * @param ticket held until all of this is committed
     */
    public void store(StoreLoop loop, int packetId, Iterable<JointOperation> operations, RouteTicket ticket) {
        if (record != null) {
            record.received(loop, packetId, operations, ticket);
        }
    }

    /**
     * Forgets an identifier at its PUBREL, in the store too [MQTT-4.3.3-11].
     *
     * @param packetId 1 to 65,535
     * @param waits whether this client waits for the store
     * @param stable whether it waits for stable storage
     * @param then runs when the store has forgotten the identifier; at once for a session that is not stored
     */
    public void release(int packetId, boolean waits, boolean stable, Runnable then) {
        boolean known = released(packetId);
        if (record == null) {
            then.run();
        } else if (known) {
            record.released(packetId, waits, stable, then);
        } else { // released before, but perhaps not yet removed
            record.await(waits, stable, kept -> then.run());
        }
    }

    /**
     * Forgets all identifiers, in the store too: the sender has begun a new session, in which it gives them to new
     * messages [MQTT-3.2.2-5]. Waits for nothing.
     */
    public void releaseAll() {
        for (int packetId : identifiers()) {
            release(packetId, false, false, () -> {});
        }
    }

    /**
     * Records an identifier again that was forgotten by {@link #release}, in the store too: its message was routed and committed before, and its
     * PUBREL is still to come. For a client in this process that has several senders. Waits for nothing.
     *
     * @param packetId 1 to 65,535
     */
    public void restore(int packetId) {
        received(packetId);
        if (record != null) {
            record.received(record.loop(), packetId, List.of(), RouteTicket.NONE);
        }
    }

    /**
     * Returns whether all routed messages are committed.
     *
     * @return false while a message must not be acknowledged
     */
    public boolean isSettled() {
        return unsettled == null;
    }

    /**
     * The identifier of the message that comes with a packet identifier, if it is in the store already: then the message is the same when it comes
     * again after a crash, here or at another node.
     *
     * @param packetId 1 to 65,535, not one that awaits PUBREL
     * @return {@link ApplicationMessage#NO_ID} if the message gets any identifier: for a session that is not stored, and without a cluster
     */
    public long messageId(int packetId) {
        ExchangeNumbers numbers = record == null ? null : record.numbers();
        if (record == null || numbers == null) {
            return ApplicationMessage.NO_ID;
        }
        if (numbers.size() >= ExchangeNumbers.MANY && !numbers.has(packetId)) {
            record.keepNumber(packetId);
        }
        return numbers.of(packetId);
    }

    /**
     * Whether the identifiers of so many messages are stored that {@link #shorten} is due.
     *
     * @return true if there are many, and it can be done now
     */
    public boolean isLong() {
        ExchangeNumbers numbers = record == null ? null : record.numbers();
        if (numbers == null || numbers.size() < ExchangeNumbers.MANY + count) { // those in use stay
            return false;
        }
        if (unsettled != null) {
            for (IntObjectMap.PrimitiveEntry<Unsettled> entry : unsettled.entries()) {
                if (!numbers.has(entry.key())) {
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Stores the identifiers of next messages in a short form. The client must not send a message until the end.
     *
     * @param then runs at the end
     */
    public void shorten(Runnable then) {
        if (record == null) {
            then.run();
        } else {
            record.shortenNumbers(this::isAwaitingRelease, then);
        }
    }

    /** The number of identifiers that fit into the allocated memory, with that of the identifiers of next messages. */
    int room() {
        ExchangeNumbers numbers = record == null ? null : record.numbers();
        int others = numbers == null ? 0 : numbers.bytes() * Byte.SIZE;
        return others + (awaitingRelease == null ? 0 : awaitingRelease.size());
    }

    /**
     * Lists the identifiers that await PUBREL.
     *
     * @return each 1 to 65,535, in ascending order
     */
    public int[] identifiers() {
        return awaitingRelease == null ? new int[0] : awaitingRelease.stream().toArray();
    }

    /**
     * The number of messages that await PUBREL.
     *
     * @return messages
     */
    public int awaitingRelease() {
        return count;
    }
}
