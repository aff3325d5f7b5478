// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
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

    /** Packet identifiers of refused messages whose client has no answer, and will send them again; null without any. */
    private @Nullable BitSet unanswered;

    /** Tasks for the end of the shortening of next identifiers; null unless it is in progress. */
    private @Nullable List<Runnable> afterShortened;

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
        private boolean renumbered;

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
     * Completes a message, which is committed or could not be kept. If not, the client's next attempt is routed: with the same identifier, unless
     * {@link #renumber} was called before, so that sessions of other nodes which have the message recognize it.
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
        RouteTicket follower = entry.follower;
        if (!kept && follower != null) { // it answers, and completes the message then
            Objects.requireNonNull(unsettled).put(packetId, new Unsettled(follower));
        } else {
            forget(packetId);
        }
        if (follower != null) {
            follower.release(kept);
        } else if (!kept) {
            released(packetId);
            if (record != null && record.numbers() != null && !entry.renumbered) {
                unanswered = unanswered == null ? new BitSet() : unanswered;
                unanswered.set(packetId);
            }
        }
    }

    /**
     * Gives the next message with a packet identifier another identifier than the present one, of which the client is about to learn that it was refused.
     *
     * @param packetId 1 to 65,535
     * @param waits whether the other identifier has to be in the store before the client learns of it: another node may have the message
     * @param stable whether it has to be on stable storage
     * @param then receives whether that is so; if not, the identifier is the same as before
     */
    public void renumber(int packetId, boolean waits, boolean stable, CommitCallback then) {
        if (record == null) {
            then.committed(true);
            return;
        }
        Unsettled entry = unsettled == null ? null : unsettled.get(packetId);
        record.refused(packetId, waits, stable, kept -> {
            if (entry != null) {
                entry.renumbered = kept;
            }
            then.committed(kept);
        });
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
     * @param again whether the client says that it has sent the message before
     * @return {@link ApplicationMessage#NO_ID} if the message gets any identifier: for a session that is not stored, and without a cluster
     */
    public long messageId(int packetId, boolean again) {
        ExchangeNumbers numbers = record == null ? null : record.numbers();
        if (record == null || numbers == null) {
            return ApplicationMessage.NO_ID;
        }
        if (unanswered != null && unanswered.get(packetId)) {
            unanswered.clear(packetId);
            if (!again) { // another message, of a client that has lost its state
                record.refused(packetId, false, false, kept -> {});
            }
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
        int used = count + (unanswered == null ? 0 : unanswered.cardinality()); // their rows stay
        if (numbers == null || isShortening() || numbers.size() < ExchangeNumbers.MANY + used) {
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
            return;
        }
        List<Runnable> tasks = new ArrayList<>(List.of(then));
        afterShortened = tasks;
        if (unanswered != null) {
            unanswered.stream().forEach(record::keepNumber);
        }
        record.shortenNumbers(this::isUsed, () -> {
            afterShortened = null;
            tasks.forEach(Runnable::run);
        });
    }

    private boolean isUsed(int packetId) {
        return isAwaitingRelease(packetId) || (unanswered != null && unanswered.get(packetId));
    }

    /**
     * Whether {@link #shorten} has not come to its end. A client that takes over the session meanwhile must not send a message either.
     *
     * @return false if messages may come
     */
    public boolean isShortening() {
        return afterShortened != null;
    }

    /**
     * Runs a task at the end of {@link #shorten}.
     *
     * @param task runs on the event loop of the session; at once unless {@link #isShortening}
     */
    public void afterShortened(Runnable task) {
        if (afterShortened == null) {
            task.run();
        } else {
            afterShortened.add(task);
        }
    }

    /** The number of identifiers that fit into the allocated memory, with that of the identifiers of next messages. */
    int room() {
        ExchangeNumbers numbers = record == null ? null : record.numbers();
        int others = numbers == null ? 0 : numbers.bytes() * Byte.SIZE;
        others += unanswered == null ? 0 : unanswered.size();
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
