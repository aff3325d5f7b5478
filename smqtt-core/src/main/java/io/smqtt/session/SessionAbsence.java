// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.message.Will;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines of a session without a connection: will delay, message expiry, session expiry. Owns the will and the expiry
 * interval of the present or last connection.
 */
@OnEventLoop
final class SessionAbsence {

    /** At least between two looks for expired messages of an absent client, and more where many wait. */
    private static final long QUEUE_LOOK_MILLIS = 60_000;

    private static final long QUEUE_LOOK_MILLIS_PER_MESSAGE = 100;
    private static final int QUEUE_LOOK_SPREAD = 60;

    private final Session session;
    private final SessionResources resources;
    private final SessionRegistry registry;

    // valid for the connection, and until the next one
    private long expirySeconds;
    private @Nullable Will will;

    /** Whether the session was found in the store, and what goes on has not been looked at. */
    private boolean recovered;

    /** Whether the will was found in the store. */
    private boolean willOfBefore;

    // valid until the next connection
    private @Nullable Deadline willTimer;
    private @Nullable Deadline expiry;
    private @Nullable QueueLook queueLook;

    SessionAbsence(Session session, SessionResources resources, SessionRegistry registry, long expirySeconds) {
        this.session = session;
        this.resources = resources;
        this.registry = registry;
        this.expirySeconds = expirySeconds;
    }

    /** The session was found in the store, with the will of its last connection. */
    void recovered(@Nullable Will lastWill) {
        will = lastWill;
        willOfBefore = true;
        recovered = true;
    }

    /** Whether there is nothing to do but to publish the will. */
    boolean leavesWill() {
        return recovered && expirySeconds == 0 && will != null;
    }

    /** Whether the will waits for its time. The answer may be out of date. */
    @AnyThread
    boolean delaysWill() {
        Deadline timer = willTimer;
        return timer != null && timer.isArmed();
    }

    /** The will that waits for its time, with the rest of its delay; null if there is none. It does not become due before {@link #inherit}. */
    @Nullable
    Will holdWill() {
        Deadline timer = willTimer;
        if (will == null || timer == null) {
            return null;
        }
        timer.cancel();
        long millis = Math.max(0, timer.dueTick - wheel().nowTick()) * DeadlineWheel.TICK_MILLIS;
        return new Will(will.message(), Math.max(1, TimeUnit.MILLISECONDS.toSeconds(millis)));
    }

    /**
     * The session has come from another node, where its will was waiting. If there is a will, it is held no more. Does nothing if there is a
     * client.
     */
    void inherit(Will waiting) {
        if (session.isOnline() || session.hasEnded()) {
            return;
        }
        Deadline timer = willTimer;
        if (will != null) {
            if (timer != null && !timer.isArmed()) {
                wheel().armAt(timer, timer.dueTick);
            }
            return;
        }
        will = waiting;
        willOfBefore = false;
        session.charge().add(HeapWeight.will(waiting));
        WillWatch watch = registry.willWatch();
        if (watch != null) {
            watch.inForce(session.id(), session.client().userName(), waiting, expirySeconds);
        }
        awaitWill(wheel(), Math.min(waiting.delaySeconds(), expirySeconds));
        SessionRecord record = session.record();
        if (record != null) {
            record.disconnected(expirySeconds, waiting);
        }
    }

    long expirySeconds() {
        return expirySeconds;
    }

    // --- how it begins and ends

    @Nullable
    Will will() {
        return will;
    }

    /** There is no will any more, and it does not count. */
    private void dropWill() {
        session.charge().add(-HeapWeight.will(will));
        will = null;
    }

    /** The session has a connection, whose will was counted when it was let in. */
    void attached(SessionRequest request) {
        recovered = false;
        willOfBefore = false;
        expirySeconds = request.expirySeconds();
        will = request.will();
        WillWatch watch = registry.willWatch();
        if (watch != null && will != null) {
            watch.inForce(session.id(), request.client().userName(), will, expirySeconds);
        }
    }

    private void willGone(@Nullable Will before) {
        WillWatch watch = registry.willWatch();
        if (watch != null && before != null) {
            watch.gone(session.id());
        }
    }

    /**
     * Somebody else has published the will, or found that it is not to be published.
     *
     * @param settled the will; null for one that was found in the store. If it is another one by now nothing happens.
     */
    @SuppressWarnings("ReferenceEquality") // another connection may have the same will
    void settledElsewhere(@Nullable Will settled) {
        if (settled == null ? !willOfBefore : settled != will) {
            return;
        }
        Will before = will;
        dropWill();
        if (willTimer != null) {
            willTimer.cancel();
            willTimer = null;
        }
        if (before != null) {
            publishing(before);
            published(before);
        }
        willGone(before);
    }

    /** Another connection takes the place of the one that was, or of none. */
    void claimed(boolean wasConnected, boolean sessionEnds) {
        Will due = will;
        boolean lost = wasConnected || recovered; // or the broker has lost the connection by ending
        boolean waiting = lost || willTimer != null;
        dropWill();
        cancel();
        willGone(due);
        if (due != null && waiting && (sessionEnds || (lost && due.delaySeconds() == 0))) {
            registry.publishWill(session, due);
        }
    }

    /**
     * The connection is gone.
     *
     * @param publishWill whether the will is to be published [MQTT-3.1.2-8]
     * @param newExpirySeconds the session expiry interval of the DISCONNECT, or -1
     */
    void begin(boolean publishWill, long newExpirySeconds) {
        if (newExpirySeconds >= 0) { // [MQTT-3.14.2-1]
            expirySeconds = newExpirySeconds;
        }
        Will due = publishWill ? will : null;
        if (due == null) { // [MQTT-3.14.4-3]
            willGone(will);
            dropWill();
        }
        DeadlineWheel wheel = wheel();
        if (due != null && (due.delaySeconds() == 0 || expirySeconds == 0)) { // [MQTT-3.1.3-9]
            willDue();
        } else if (due != null) {
            awaitWill(wheel, Math.min(due.delaySeconds(), expirySeconds));
        }
        if (expirySeconds == 0) {
            session.life().end(false);
            return;
        }
        SessionRecord record = session.record();
        if (record != null) {
            record.disconnected(expirySeconds, due);
        }
        awaitExpiry(wheel, expirySeconds);
        if (session.queuedCount() > 0) {
            awaitQueueLook(wheel, QUEUE_LOOK_MILLIS);
        }
    }

    /** Goes on after a restart, by the store's clock, unless the client was faster. */
    void goOn(SessionRecord record) {
        if (!recovered) {
            return;
        }
        recovered = false;
        DeadlineWheel wheel = wheel();
        if (record.queue().size() > 0) { // spread over an hour: each look reads from disk
            awaitQueueLook(wheel, QUEUE_LOOK_MILLIS * (1 + record.number() % QUEUE_LOOK_SPREAD));
        }
        if (record.expiresAtMillis() == StoredSession.CONNECTED) { // the broker did not end as it should
            Will due = will;
            long hold = registry.recoveredWillsWaitSeconds(); // others may have published it
            if (due != null && (Math.max(due.delaySeconds(), hold) == 0 || expirySeconds == 0)) {
                willDue();
            } else if (due != null) {
                awaitWill(wheel, Math.max(hold, Math.min(due.delaySeconds(), expirySeconds)));
            }
            if (expirySeconds == 0) {
                session.life().end(false);
                return;
            }
            record.disconnected(expirySeconds, will);
            awaitExpiry(wheel, expirySeconds);
            return;
        }
        long now = record.stores().store().clockMillis();
        if (will != null) {
            long hold = TimeUnit.SECONDS.toMillis(registry.recoveredWillsWaitSeconds()); // others may have published it
            awaitWillMillis(wheel, Math.max(hold, record.willAtMillis() - now));
        }
        awaitExpiryMillis(wheel, Math.max(0, record.expiresAtMillis() - now));
    }

    private DeadlineWheel wheel() {
        return resources.wheels().get(session.owner().index());
    }

    // --- what comes in time

    /** The will is due. */
    void willDue() {
        Will due = will;
        dropWill();
        if (due != null) {
            registry.publishWill(session, due);
            willGone(due);
        }
    }

    /** A will is about to be published. */
    void publishing(Will due) {
        SessionRecord record = session.record();
        if (record != null) {
            record.willDue(due);
        }
    }

    /** A will is safe with all who get it, or nobody may get it. */
    void published(Will gone) {
        SessionRecord record = session.record();
        if (record != null) {
            record.willGone(gone);
        }
    }

    /** The session's time is over. */
    void expire() {
        willDue(); // [MQTT-3.1.2-10]
        session.life().end(true);
    }

    /** A message that waits for an absent client is removed when it has expired. */
    void awaitExpiryOf(ApplicationMessage message) {
        if (!session.isOnline() && message.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
            long seconds = message.remainingExpirySeconds(resources.ticker().nanoTime()) + 1;
            awaitQueueLook(wheel(), TimeUnit.SECONDS.toMillis(seconds));
        }
    }

    /** Removes messages that have expired. */
    private void removeExpired() {
        if (session.hasEnded() || session.isOnline()) {
            return;
        }
        restQueueLook(wheel(), Math.max(QUEUE_LOOK_MILLIS, session.queuedCount() * QUEUE_LOOK_MILLIS_PER_MESSAGE));
        OutboundFlow outbound = session.outboundOrNull();
        if (outbound != null) {
            lookAgain(outbound.removeExpired());
        }
        SessionRecord record = session.record();
        if (record != null) {
            record.queue().removeExpired(this::lookAgain);
        }
    }

    /** Arms the next look, in seconds; none if that is NEVER. */
    private void lookAgain(long seconds) {
        if (seconds != ApplicationMessage.NEVER && !session.hasEnded() && !session.isOnline()) {
            awaitQueueLook(wheel(), TimeUnit.SECONDS.toMillis(seconds + 1));
        }
    }

    // --- the deadlines

    /** A will that waits for its delay [MQTT-3.1.3-9]. */
    private static final class WillTimer extends Deadline {

        private final SessionAbsence absence;

        WillTimer(SessionAbsence absence) {
            this.absence = absence;
        }

        @Override
        protected void expired() {
            absence.willDue();
        }
    }

    /** A session that waits for its client [MQTT-3.1.2-23]. */
    private static final class SessionExpiry extends Deadline {

        private final SessionAbsence absence;

        SessionExpiry(SessionAbsence absence) {
            this.absence = absence;
        }

        @Override
        protected void expired() {
            absence.expire();
        }
    }

    /** Looks for messages that have expired. */
    private static final class QueueLook extends Deadline {

        private final SessionAbsence absence;
        private long earliestTick;

        QueueLook(SessionAbsence absence) {
            this.absence = absence;
        }

        @Override
        protected void expired() {
            absence.removeExpired();
        }
    }

    /**
     * Looks for messages that have expired, unless that is to happen earlier.
     *
     * @param millis from now
     */
    private void awaitQueueLook(DeadlineWheel wheel, long millis) {
        if (queueLook == null) {
            queueLook = new QueueLook(this);
        }
        long tick = Math.max(queueLook.earliestTick, wheel.nowTick() + millis / DeadlineWheel.TICK_MILLIS + 1);
        if (!queueLook.isArmed() || queueLook.dueTick > tick) {
            wheel.armAt(queueLook, tick);
        }
    }

    /** A look was taken: the next one is worth it in a while only. */
    private void restQueueLook(DeadlineWheel wheel, long millis) {
        if (queueLook != null) {
            queueLook.earliestTick = wheel.nowTick() + millis / DeadlineWheel.TICK_MILLIS;
        }
    }

    private void awaitWill(DeadlineWheel wheel, long seconds) {
        awaitWillMillis(wheel, TimeUnit.SECONDS.toMillis(seconds));
    }

    private void awaitWillMillis(DeadlineWheel wheel, long millis) {
        willTimer = new WillTimer(this);
        wheel.arm(willTimer, millis);
    }

    private void awaitExpiry(DeadlineWheel wheel, long seconds) {
        awaitExpiryMillis(wheel, TimeUnit.SECONDS.toMillis(seconds));
    }

    private void awaitExpiryMillis(DeadlineWheel wheel, long millis) {
        expiry = new SessionExpiry(this);
        wheel.arm(expiry, millis);
    }

    /** Nothing is due any more. */
    void cancel() {
        if (willTimer != null) {
            willTimer.cancel();
            willTimer = null;
        }
        if (expiry != null) {
            expiry.cancel();
            expiry = null;
        }
        if (queueLook != null) {
            queueLook.cancel();
            queueLook = null;
        }
    }
}
