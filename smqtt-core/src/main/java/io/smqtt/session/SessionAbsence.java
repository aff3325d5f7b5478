// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.message.Will;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The deadlines of a session without a connection: will delay, message expiry, session expiry. Holds the will and the
 * expiry interval of the current or last connection.
 */
@OnEventLoop
public final class SessionAbsence {

    /** The minimum interval between searches for expired messages of an absent client; it is longer where many wait. */
    private static final long EXPIRY_SEARCH_MILLIS = 60_000;

    private static final long EXPIRY_SEARCH_MILLIS_PER_MESSAGE = 100;
    private static final int EXPIRY_SEARCH_SPREAD = 60;

    private final Session session;
    private final SessionResources resources;
    private final WillPublisher wills;

    // valid for the connection, and until the next one
    private long expirySeconds;
    private @Nullable Will will;

    /** Whether the session was found in the store, and its deadlines are not resumed yet. */
    private boolean recovered;

    /** Whether the will was found in the store. */
    private boolean willOfBefore;

    // valid until the next connection
    private @Nullable Deadline willTimer;
    private @Nullable Deadline expiry;
    private @Nullable ExpirySearch expirySearch;

    SessionAbsence(Session session, SessionServices services, long expirySeconds) {
        this.session = session;
        this.resources = services.resources();
        this.wills = services.wills();
        this.expirySeconds = expirySeconds;
    }

    /** Restores the session, with the will of its last connection. */
    void recovered(@Nullable Will lastWill) {
        will = lastWill;
        willOfBefore = true;
        recovered = true;
    }

    /** Whether publishing the will is the only thing left to do. */
    boolean leavesWill() {
        return recovered && expirySeconds == 0 && will != null;
    }

    /**
     * Returns whether the client is offline and its will waits for the will delay interval.
     *
     * @return a value that is exact on the session's event loop
     */
    @AnyThread
    public boolean delaysWill() {
        Deadline timer = willTimer;
        return timer != null && timer.isArmed();
    }

    /**
     * Holds the will that waits for the will delay interval. Another node is asked to take the session over, and only one
     * of them may publish the will. It does not become due before {@link #inheritWill}.
     *
     * @return the will with its remaining delay; null if there is none
     */
    public @Nullable Will holdWill() {
        assert session.owner().executor().inEventLoop();
        Deadline timer = willTimer;
        if (will == null || timer == null) {
            return null;
        }
        timer.cancel();
        long millis = Math.max(0, timer.dueTick - wheel().nowTick()) * DeadlineWheel.TICK_MILLIS;
        return new Will(will.message(), Math.max(1, TimeUnit.MILLISECONDS.toSeconds(millis)));
    }

    /**
     * Sets the will of an absent client whose session has come from another node. If the session already has a will, that
     * is released instead. Does nothing if the client is connected.
     *
     * @param waiting the will, which becomes due after its delay
     */
    public void inheritWill(Will waiting) {
        assert session.owner().executor().inEventLoop();
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
        wills.inForce(session.client(), waiting, expirySeconds);
        awaitWill(wheel(), Math.min(waiting.delaySeconds(), expirySeconds));
        SessionRecord record = session.record();
        if (record != null) {
            record.disconnected(expirySeconds, waiting);
        }
    }

    long expirySeconds() {
        return expirySeconds;
    }

    // --- begin and end

    @Nullable
    Will will() {
        return will;
    }

    /** Discards the will and its charge. */
    private void dropWill() {
        session.charge().add(-HeapWeight.will(will));
        will = null;
    }

    /** Sets will and expiry interval of a new connection. The will was charged at its admission. */
    void attached(ClientIdentity client, long newExpirySeconds, @Nullable Will newWill) {
        recovered = false;
        willOfBefore = false;
        expirySeconds = newExpirySeconds;
        will = newWill;
        wills.inForce(client, newWill, newExpirySeconds);
    }

    private void willGone(@Nullable Will before) {
        wills.gone(session.id(), before);
    }

    /**
     * Discards a will that another node has published, or found not to be published.
     *
     * @param settled the will; null for one that was found in the store. If it was replaced, nothing happens.
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

    /** Ends the absence or the connection because another connection takes over. */
    void claimed(boolean wasConnected, boolean sessionEnds) {
        Will due = will;
        boolean lost = wasConnected || recovered; // the broker's stop ended the connection
        boolean waiting = lost || willTimer != null;
        dropWill();
        cancel();
        willGone(due);
        if (due != null && waiting && (sessionEnds || (lost && due.delaySeconds() == 0))) {
            publish(due);
        }
    }

    /**
     * Begins the absence after the end of a connection.
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
            armExpirySearch(wheel, EXPIRY_SEARCH_MILLIS);
        }
    }

    /** Resumes the deadlines after a restart, by the store's clock, unless the client has already reconnected. */
    void resumeDeadlines(SessionRecord record) {
        if (!recovered) {
            return;
        }
        recovered = false;
        DeadlineWheel wheel = wheel();
        if (record.queue().size() > 0) { // spread over an hour: each search reads from disk
            armExpirySearch(wheel, EXPIRY_SEARCH_MILLIS * (1 + record.number() % EXPIRY_SEARCH_SPREAD));
        }
        if (record.expiresAtMillis() == StoredSession.CONNECTED) { // the broker did not stop cleanly
            Will due = will;
            long hold = wills.recoveredWillsWaitSeconds(); // other nodes may have published it
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
        long now = record.clockMillis();
        if (will != null) {
            long hold =
                    TimeUnit.SECONDS.toMillis(wills.recoveredWillsWaitSeconds()); // other nodes may have published it
            awaitWillMillis(wheel, Math.max(hold, record.willAtMillis() - now));
        }
        awaitExpiryMillis(wheel, Math.max(0, record.expiresAtMillis() - now));
    }

    private DeadlineWheel wheel() {
        return resources.wheels().get(session.owner().index());
    }

    // --- expiry of deadlines

    /** Publishes the will. */
    void willDue() {
        Will due = will;
        dropWill();
        if (due != null) {
            publish(due);
            willGone(due);
        }
    }

    /** Publishes a will if the client is authorized. A stored one is kept until the message is committed. */
    private void publish(Will due) {
        publishing(due);
        Runnable settled = () -> session.execute(() -> published(due));
        wills.publish(session.owner(), session.client(), due, session.isStored(), settled);
    }

    /** Records that a will is about to be published. */
    private void publishing(Will due) {
        SessionRecord record = session.record();
        if (record != null) {
            record.willDue(due);
        }
    }

    /** Records that a will was published and committed by all receivers, or that it must not be published. */
    private void published(Will gone) {
        SessionRecord record = session.record();
        if (record != null) {
            record.willGone(gone);
        }
    }

    /** Ends the expired session. */
    void expire() {
        willDue(); // [MQTT-3.1.2-10]
        session.life().end(true);
    }

    /** Arms the search for a message that waits for an absent client and may expire. */
    void awaitExpiryOf(ApplicationMessage message) {
        if (!session.isOnline() && message.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
            long seconds = message.remainingExpirySeconds(resources.ticker().nanoTime()) + 1;
            armExpirySearch(wheel(), TimeUnit.SECONDS.toMillis(seconds));
        }
    }

    /** Removes expired messages. */
    private void removeExpired() {
        if (session.hasEnded() || session.isOnline()) {
            return;
        }
        postponeExpirySearch(
                wheel(), Math.max(EXPIRY_SEARCH_MILLIS, session.queuedCount() * EXPIRY_SEARCH_MILLIS_PER_MESSAGE));
        OutboundFlow outbound = session.outboundOrNull();
        if (outbound != null) {
            armNextSearch(outbound.removeExpired());
        }
        SessionRecord record = session.record();
        if (record != null) {
            record.queue().removeExpired(this::armNextSearch);
        }
    }

    /** Arms the next search, in seconds; none if NEVER. */
    private void armNextSearch(long seconds) {
        if (seconds != ApplicationMessage.NEVER && !session.hasEnded() && !session.isOnline()) {
            armExpirySearch(wheel(), TimeUnit.SECONDS.toMillis(seconds + 1));
        }
    }

    // --- the deadlines

    /** The deadline of a delayed will [MQTT-3.1.3-9]. */
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

    /** The deadline of the session expiry interval [MQTT-3.1.2-23]. */
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

    /** The deadline of the next search for expired messages. */
    private static final class ExpirySearch extends Deadline {

        private final SessionAbsence absence;
        private long earliestTick;

        ExpirySearch(SessionAbsence absence) {
            this.absence = absence;
        }

        @Override
        protected void expired() {
            absence.removeExpired();
        }
    }

    /**
     * Arms a search for expired messages, unless an earlier one is armed.
     *
     * @param millis from now
     */
    private void armExpirySearch(DeadlineWheel wheel, long millis) {
        if (expirySearch == null) {
            expirySearch = new ExpirySearch(this);
        }
        long tick = Math.max(expirySearch.earliestTick, wheel.nowTick() + millis / DeadlineWheel.TICK_MILLIS + 1);
        if (!expirySearch.isArmed() || expirySearch.dueTick > tick) {
            wheel.armAt(expirySearch, tick);
        }
    }

    /** Postpones the next search after one was done. */
    private void postponeExpirySearch(DeadlineWheel wheel, long millis) {
        if (expirySearch != null) {
            expirySearch.earliestTick = wheel.nowTick() + millis / DeadlineWheel.TICK_MILLIS;
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

    /** Cancels all deadlines. */
    void cancel() {
        if (willTimer != null) {
            willTimer.cancel();
            willTimer = null;
        }
        if (expiry != null) {
            expiry.cancel();
            expiry = null;
        }
        if (expirySearch != null) {
            expirySearch.cancel();
            expirySearch = null;
        }
    }
}
