// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.session.Session;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.Ticker;

/**
 * Sums over all sessions, for values that no counter has. The sessions are walked at most once a second and for at most a fiftieth of the
 * time, so that frequent calls do no harm with a million sessions. Any thread that may block.
 */
final class SessionTotals {

    private static final long FRESH_NANOS = 1_000_000_000;
    private static final long RECENT_NANOS = 10_000_000_000L;
    private static final int SHARE_OF_TIME = 50;

    private final SessionRegistry sessions;
    private final Ticker ticker;
    private Totals last = new Totals(0, 0, 0, 0);
    private long lastNanos;
    private long nextNanos;

    SessionTotals(SessionRegistry sessions, Ticker ticker) {
        this.sessions = sessions;
        this.ticker = ticker;
        nextNanos = ticker.nanoTime();
        lastNanos = nextNanos - RECENT_NANOS;
    }

    /** The sums of the last walk, if that is not long ago; else those of a new one. */
    synchronized Totals recent() {
        return ticker.nanoTime() - lastNanos < RECENT_NANOS ? last : get();
    }

    synchronized Totals get() {
        long began = ticker.nanoTime();
        if (began - nextNanos >= 0) {
            last = walk();
            lastNanos = began;
            long taken = ticker.nanoTime() - began;
            nextNanos = began + Math.max(FRESH_NANOS, taken * SHARE_OF_TIME);
        }
        return last;
    }

    private Totals walk() {
        long inFlight = 0;
        long queued = sessions.queuedForGroups();
        long queuedBytes = sessions.queuedBytesForGroups();
        long wills = 0;
        for (Session session : sessions.all()) {
            inFlight += session.inFlightCount();
            queued += session.queuedCount();
            queuedBytes += session.queuedBytes();
            wills += session.absence().delaysWill() ? 1 : 0;
        }
        return new Totals(inFlight, queued, queuedBytes, wills);
    }

    /**
     * Sums of one walk.
     *
     * @param inFlight messages sent to subscribers and not yet acknowledged
     * @param queued messages that wait in queues of sessions and shared groups
     * @param queuedBytes their bytes, as they count against the limits of a queue
     * @param wills wills that wait for their Will Delay Interval
     */
    record Totals(long inFlight, long queued, long queuedBytes, long wills) {}
}
