// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What happens to a session without a connection in time: its will is published, its messages expire, and so does it. */
final class SessionDeadlines {

    private final Session session;
    private @Nullable Deadline willTimer;
    private @Nullable Deadline expiry;
    private @Nullable QueueLook queueLook;

    SessionDeadlines(Session session) {
        this.session = session;
    }

    /** A will that waits for its delay [MQTT-3.1.3-9]. */
    private static final class WillTimer extends Deadline {

        private final Session session;

        WillTimer(Session session) {
            this.session = session;
        }

        @Override
        protected void expired() {
            session.willDue();
        }
    }

    /** A session that waits for its client [MQTT-3.1.2-23]. */
    private static final class SessionExpiry extends Deadline {

        private final Session session;

        SessionExpiry(Session session) {
            this.session = session;
        }

        @Override
        protected void expired() {
            session.expire();
        }
    }

    /** Looks for messages that have expired. */
    private static final class QueueLook extends Deadline {

        private final Session session;
        private long earliestTick;

        QueueLook(Session session) {
            this.session = session;
        }

        @Override
        protected void expired() {
            session.removeExpired();
        }
    }

    /**
     * Looks for messages that have expired, unless that is to happen earlier.
     *
     * @param millis from now
     */
    void awaitQueueLook(DeadlineWheel wheel, long millis) {
        if (queueLook == null) {
            queueLook = new QueueLook(session);
        }
        long tick = Math.max(queueLook.earliestTick, wheel.nowTick() + millis / DeadlineWheel.TICK_MILLIS + 1);
        if (!queueLook.isArmed() || queueLook.dueTick > tick) {
            wheel.armAt(queueLook, tick);
        }
    }

    /** A look was taken: the next one is worth it in a while only. */
    void restQueueLook(DeadlineWheel wheel, long millis) {
        if (queueLook != null) {
            queueLook.earliestTick = wheel.nowTick() + millis / DeadlineWheel.TICK_MILLIS;
        }
    }

    boolean isWillWaiting() {
        return willTimer != null && willTimer.isArmed();
    }

    void awaitWill(DeadlineWheel wheel, long seconds) {
        awaitWillMillis(wheel, TimeUnit.SECONDS.toMillis(seconds));
    }

    void awaitWillMillis(DeadlineWheel wheel, long millis) {
        willTimer = new WillTimer(session);
        wheel.arm(willTimer, millis);
    }

    void awaitExpiry(DeadlineWheel wheel, long seconds) {
        awaitExpiryMillis(wheel, TimeUnit.SECONDS.toMillis(seconds));
    }

    void awaitExpiryMillis(DeadlineWheel wheel, long millis) {
        expiry = new SessionExpiry(session);
        wheel.arm(expiry, millis);
    }

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
