// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Hands the messages of shared subscriptions over to other members while the client of a stored session is away, and when
 * the session ends. They are read and offered page by page; each stays in the store until it is safe with somebody else,
 * and what follows it is not read for the client before. Owns the numbers of the messages that are on their way, and what
 * goes on when the last of them has arrived or come back. There is none in a session that never had a shared subscription.
 */
@OnEventLoop
final class QueueHandOver {

    private final Session session;
    private final SessionRecord record;
    private final DurableQueue queue;

    /** Whether a message of a shared subscription may be among those that wait. */
    private boolean mayHold;

    /** Who is offered what waits, while that goes on. */
    private OutboundFlow.@Nullable SharedReturn target;

    /** Who is offered what is left then: members on another node that have asked meanwhile. */
    private OutboundFlow.@Nullable SharedReturn following;

    private boolean reading;
    private boolean again;

    /** Messages that were not safe yet could not be offered. */
    private boolean joint;

    /**
     * The numbers of messages that were offered to other members, in flight or waiting; the next page is offered, and what
     * follows them is read for the client, when all of them have arrived or come back.
     */
    private @Nullable TreeSet<Long> departing;

    private long nextPage;

    /** What came later is not offered in this round: it may be what other nodes have sent back. */
    private long drainUntil;

    private boolean sameRound;
    private boolean cameBack;
    private boolean offersLater;
    private int drains;

    /** What follows when the session has ended and left its messages to others, and who gets them. */
    private @Nullable Runnable whenLeft;

    private OutboundFlow.@Nullable SharedReturn heirs;

    QueueHandOver(Session session, SessionRecord record, DurableQueue queue) {
        this.session = session;
        this.record = record;
        this.queue = queue;
    }

    /** A message of a shared subscription may wait from now on. */
    void mayHold() {
        mayHold = true;
    }

    /** The client is there, or gone: what is under way was for the time until now. */
    void interrupt() {
        reading = false;
        mayHold |= target != null; // not all of it was offered
        target = null;
        following = null;
    }

    /** Whether messages are on their way or about to be. */
    boolean goesOn() {
        return target != null || departing != null;
    }

    /** Grows with each look at what waits, after which it may have changed anywhere. */
    int drains() {
        return drains;
    }

    /** Whether the session has ended and its messages are still being left to others. */
    boolean isLeaving() {
        return whenLeft != null;
    }

    /** The first message that another member may have, or {@link Long#MAX_VALUE}. */
    long barrier() {
        return departing == null ? Long.MAX_VALUE : departing.first();
    }

    // --- one message

    /**
     * Offers a message to another member. It stays in the store until it is safe there.
     *
     * @param sequence its place in the window, or -1 if it waits
     * @param delivered whether the client was sent it, so that another member is one more to get it
     * @return false if there is no other member
     */
    boolean depart(
            OutboundFlow.SharedReturn to,
            ApplicationMessage message,
            Subscription subscription,
            long number,
            long sequence,
            boolean delivered) {
        if (!to.offer(message, subscription, new Departure(session, this, message, number, sequence, delivered))) {
            return false;
        }
        if (departing == null) {
            departing = new TreeSet<>();
        }
        departing.add(number);
        return true;
    }

    /** Whether anything waits for the store. */
    boolean waits() {
        return record.waits();
    }

    /** Another member has room for a QoS 2 message: it goes there and from here at once, or stays. */
    void move(JointOperation part, ApplicationMessage message, long number, long sequence, boolean delivered) {
        StoreLoop loop = record.loop();
        StoreWriter writer = loop.writer();
        part.submit(writer);
        writer.removeHandedOver(record.number(), number);
        CommitCallback callback = kept -> {
            part.settled(kept);
            if (session.isHere()) {
                moved(message, number, sequence, delivered, kept);
            } else {
                session.execute(() -> moved(message, number, sequence, delivered, kept));
            }
        };
        loop.await(callback, loop.isStable());
    }

    private void moved(ApplicationMessage message, long number, long sequence, boolean delivered, boolean kept) {
        if (!kept) {
            cameBack(message, number, sequence, delivered, true, false);
            return;
        }
        queue.departed(sequence);
        if (delivered) {
            queue.redispatched();
        }
        arrived(number, false);
    }

    /** A message is safe with another member. */
    void departed(long number, long sequence, boolean delivered) {
        if (sequence < 0 || session.hasEnded()) {
            queue.remove(number);
        } else {
            queue.departed(sequence);
        }
        if (delivered) {
            queue.redispatched();
        }
        arrived(number, false);
    }

    /**
     * A message was not kept by another member: it is in its old place.
     *
     * @param failed whether the store did not take it: it is offered again later
     * @param left whether that member was gone: it is offered to others
     */
    void cameBack(
            ApplicationMessage message, long number, long sequence, boolean delivered, boolean failed, boolean left) {
        queue.cameBack(message, number, sequence);
        if (failed) { // whoever did not keep it has counted the end of this delivery
            queue.repeated();
        }
        if (delivered && session.hasEnded()) { // the one in flight is over, and now it waits for others
            queue.redispatched();
        }
        cameBack = true;
        mayHold = true;
        if (failed) {
            offerLater();
        }
        arrived(number, !failed && (left || heirs != null));
    }

    private void arrived(long number, boolean offerAgain) {
        if (departing != null) {
            departing.remove(number);
            if (departing.isEmpty()) {
                departing = null;
            }
        }
        if (offerAgain) {
            offerAgain();
        }
        if (departing == null) {
            queue.pumpIfConnected();
            goOn();
            left();
        }
    }

    private void offerAgain() {
        if (heirs != null) {
            drain(heirs);
        } else {
            session.member().handOver();
        }
        left();
    }

    private void offerLater() {
        if (!offersLater) {
            offersLater = true;
            record.loop().later(this::offerWhenHealthy);
        }
    }

    /** Not before the store takes operations: members that are connected would get the messages again and again. */
    private void offerWhenHealthy() {
        if (!session.isHere()) {
            session.execute(this::offerWhenHealthy);
        } else if (!session.hasEnded() || isLeaving()) {
            if (record.stores().store().isHealthy()) {
                offersLater = false;
                offerAgain();
            } else {
                record.loop().later(this::offerWhenHealthy);
            }
        }
    }

    // --- all that waits

    /** Offers what waits to other members, page by page, while the client is away. */
    void drain(OutboundFlow.SharedReturn to) {
        if (target != null) {
            again = true;
            if (to.isBounded()) {
                following = to;
            }
        } else if (queue.waitsForNobody() && mayHold && (isLeaving() || to.isBounded() || session.hasPeers(true))) {
            target = to;
            if (!sameRound) {
                drainUntil = queue.next();
            }
            drainFrom(queue.unreadFrom());
        }
    }

    private void drainFrom(long from) {
        if (from == queue.unreadFrom()) {
            mayHold = false;
            again = false;
        }
        cameBack = false;
        drains++;
        reading = true;
        queue.readPage(from, this::drain);
    }

    private void drain(StoredPage page) {
        OutboundFlow.SharedReturn to = target;
        if (to == null) {
            return;
        }
        reading = false;
        if (page.failure() != null) {
            target = null;
            mayHold = true;
            offerLater();
            return;
        }
        nextPage = queue.next();
        joint = queue.holdsUnsafe() && queue.unsafeFrom() < drainUntil;
        for (StoredMessage message : page.messages()) {
            nextPage = message.sequence() + 1;
            if (mayDepart(message) && !depart(message, to)) {
                mayHold = true;
            }
        }
        goOn();
    }

    /** What waits may go, and what was sent at QoS 1; QoS 2 messages in flight stay [MQTT-4.8.2-4]. */
    private boolean mayDepart(StoredMessage message) {
        long number = message.sequence();
        StoredDelivery.State state = message.delivery().state();
        boolean goes = state == StoredDelivery.State.WAITING
                || (state == StoredDelivery.State.SENT && message.qos() == QoS.AT_LEAST_ONCE);
        return goes
                && number >= queue.unreadFrom()
                && number < Math.min(queue.unsafeFrom(), drainUntil)
                && (departing == null || !departing.contains(number))
                && SharedFilter.isShared(message.clientFilter());
    }

    private boolean depart(StoredMessage message, OutboundFlow.SharedReturn to) {
        DurableQueue.Ready entry = queue.ready(message);
        if (!depart(to, entry.message(), entry.subscription(), entry.number(), -1, false)) {
            return false;
        }
        queue.forget(entry.message().footprintBytes());
        return true;
    }

    /** The next page, unless the other members have all that they can hold: they ask for more. */
    private void goOn() {
        if (target == null || reading || departing != null) {
            return;
        }
        boolean isLast = cameBack || target.isSatisfied() || nextPage >= Math.min(queue.next(), drainUntil);
        if (!isLast) {
            drainFrom(nextPage);
        } else if (again && !target.isBounded()) {
            drainUntil = queue.next();
            drainFrom(queue.unreadFrom());
        } else {
            mayHold |= nextPage < queue.next();
            target = null;
            left();
            follow();
        }
    }

    private void follow() {
        OutboundFlow.SharedReturn next = following;
        following = null;
        if (again && target == null) { // asked for while a bounded round went on
            session.member().handOver();
        }
        if (next != null) {
            drain(next);
        }
    }

    /** Messages that were not safe when the others were offered are safe now, or lost. */
    void jointSettled() {
        if (joint) {
            joint = false;
            mayHold = true;
            sameRound = true;
            offerAgain();
            sameRound = false;
        }
    }

    // --- the end of the session

    /**
     * The session ends: leaves what waits to the other members.
     *
     * @param others takes the messages; null if there is nobody who could
     * @param then what follows when that is done
     * @return whether it takes time
     */
    boolean leave(OutboundFlow.@Nullable SharedReturn others, Runnable then) {
        whenLeft = then;
        heirs = others;
        if (others != null) {
            drain(others);
        }
        left();
        return whenLeft != null;
    }

    private void left() {
        Runnable then = whenLeft;
        if (then == null || goesOn() || joint || offersLater) {
            return;
        }
        whenLeft = null;
        heirs = null;
        then.run();
    }
}
