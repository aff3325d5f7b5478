// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Removes undelivered messages from a stored queue: the oldest when there is no room, and expired ones. Tracks whether the
 * queue may contain messages with an expiry interval.
 */
@OnEventLoop
final class QueueSweep {

    private static final long EXPIRY_LOOK_NANOS = 1_000_000_000L;

    private final SessionContext session;
    private final DurableQueue queue;
    private final SessionResources resources;

    /** Whether a waiting message may have an expiry interval, and whether a search for such messages is running. */
    private boolean mayExpire;

    private boolean sweeping;
    private boolean trimming;
    private long expiryLookNanos = Long.MIN_VALUE;

    QueueSweep(SessionContext session, DurableQueue queue, SessionResources resources, boolean mayExpire) {
        this.session = session;
        this.queue = queue;
        this.resources = resources;
        this.mayExpire = mayExpire;
    }

    /** Registers a message that has to wait. */
    void enqueued(ApplicationMessage message) {
        mayExpire |= message.expiryIntervalSeconds() != ApplicationMessage.NEVER;
    }

    /** Abandons pending work: the client has connected or disconnected. */
    void interrupt() {
        trimming = false;
        mayExpire |= sweeping; // the search is incomplete
        sweeping = false;
    }

    // --- room

    /**
     * Makes room for a message. Messages that are only in the store are removed asynchronously; until then a few messages
     * more may wait.
     *
     * @return false if there is no room and the message itself must be dropped
     */
    boolean makeRoom(int footprintBytes, LimitsConfig limits) {
        long now = resources.ticker().nanoTime();
        boolean oldest =
                resources.config().dropPolicy() == DropPolicy.OLDEST && footprintBytes <= limits.maxQueuedBytes();
        DropReason full = queue.refusal(footprintBytes, limits);
        while (full != null && queue.hasNext() && !queue.wasSent()) {
            boolean expired = queue.message().isExpired(now);
            if (!expired && !oldest) {
                return false;
            }
            queue.drop(expired ? DropReason.EXPIRED : full);
            full = queue.refusal(footprintBytes, limits);
        }
        if (full == null) {
            return true;
        }
        if (queue.hasNext() || queue.unreadFrom() == queue.next()) {
            return false;
        }
        if (oldest) {
            trim();
            return queue.size() < limits.maxQueuedMessages() + Stores.PAGE_MESSAGES
                    && queue.bytes() + footprintBytes <= limits.maxQueuedBytes() + Stores.PAGE_BYTES;
        }
        if (now - expiryLookNanos >= EXPIRY_LOOK_NANOS || expiryLookNanos == Long.MIN_VALUE) {
            expiryLookNanos = now;
            trim();
        }
        return false;
    }

    private void drop(StoredMessage stored, DropReason reason) {
        queue.dropped++;
        resources.observer().messageDropped(reason, 1);
        TracedQueue.dropped(session, stored.message(), reason);
        queue.delete(stored.sequence());
    }

    /** Reads the oldest messages in the store, and drops those that have expired or exceed the limits. */
    private void trim() {
        if (!trimming && queue.claimReading()) {
            trimming = true;
            long end = queue.visibleEnd();
            queue.readPage(queue.unreadFrom(), page -> trim(page, end));
        }
    }

    private void trim(StoredPage page, long end) {
        if (session.hasEnded()) {
            return;
        }
        trimming = false;
        queue.endReading();
        long now = resources.ticker().nanoTime();
        boolean goesOn = !page.messages().isEmpty();
        for (StoredMessage message : page.messages()) {
            goesOn = goesOn && message.sequence() < end && trim(message, now);
        }
        if (goesOn) {
            trim();
        } else {
            queue.pump();
        }
    }

    /** Drops a message if it is the oldest and must make room. */
    private boolean trim(StoredMessage message, long now) {
        if (message.sequence() < queue.unreadFrom()) {
            return true;
        }
        boolean expired = message.message().isExpired(now);
        DropReason full = queue.excess(session.limits());
        boolean goes = expired || (full != null && resources.config().dropPolicy() == DropPolicy.OLDEST);
        if (!goes || message.delivery().state() != StoredDelivery.State.WAITING) {
            return false;
        }
        queue.skip(message);
        drop(message, expired || full == null ? DropReason.EXPIRED : full);
        return true;
    }

    // --- expiry while the client is offline

    /**
     * Removes all expired messages from the queue, page by page. While no client is connected.
     *
     * @param next receives the delay of the next search, in seconds or {@link ApplicationMessage#NEVER}; not called if a
     *     client connects
     */
    void removeExpired(LongConsumer next) {
        if (!queue.waitsOffline() || !mayExpire) {
            return;
        }
        if (queue.isReading() || trimming) {
            next.accept(0);
            return;
        }
        mayExpire = false;
        sweeping = true;
        trimming = true;
        sweepFrom(queue.unreadFrom(), Long.MAX_VALUE, next);
    }

    private void sweepFrom(long from, long soonest, LongConsumer next) {
        long barrier = queue.barrier();
        queue.readPage(from, page -> {
            if (!session.hasEnded()) {
                sweep(page, barrier, soonest, next);
            }
        });
    }

    private void sweep(StoredPage page, long barrier, long soonestBefore, LongConsumer next) {
        List<StoredMessage> messages = page.messages();
        long now = resources.ticker().nanoTime();
        long soonest = soonestBefore;
        boolean stopped = page.failure() != null;
        for (StoredMessage message : messages) {
            stopped = stopped || message.sequence() >= barrier;
            soonest = stopped ? soonest : Math.min(soonest, sweep(message, now));
        }
        if (!stopped && !messages.isEmpty()) {
            sweepFrom(messages.get(messages.size() - 1).sequence() + 1, soonest, next);
            return;
        }
        sweeping = false;
        trimming = false;
        mayExpire |= stopped || soonest != Long.MAX_VALUE;
        if (mayExpire) {
            next.accept(stopped ? 0 : soonest);
        }
    }

    /** Drops a message if it has expired. Otherwise returns the seconds until it expires, or a large value. */
    private long sweep(StoredMessage stored, long now) {
        ApplicationMessage message = stored.message();
        if (stored.sequence() < queue.unreadFrom()
                || stored.delivery().state() != StoredDelivery.State.WAITING
                || message.expiryIntervalSeconds() == ApplicationMessage.NEVER) {
            return Long.MAX_VALUE;
        }
        if (!message.isExpired(now)) {
            return message.remainingExpirySeconds(now);
        }
        if (stored.sequence() == queue.unreadFrom()) {
            queue.skip(stored);
        } else {
            queue.forget(message.footprintBytes());
        }
        drop(stored, DropReason.EXPIRED);
        return Long.MAX_VALUE;
    }
}
