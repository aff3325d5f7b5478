// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredMessage;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * QoS 2 messages of a stored session that the publisher's event loop stores, together with the copies of other sessions.
 * Uncommitted messages in the backlog limit how far the queue can be read.
 */
@OnEventLoop
final class JointMessages {

    private final SessionContext session;
    private final SessionRows rows;
    private final SessionResources resources;
    private final DurableQueue queue;

    /** Messages that wait in the backlog and are not committed yet, in order. */
    private @Nullable ArrayDeque<Part> waiting;

    /** The number of messages that were sent at once and are not committed yet. */
    private int unsafeSent;

    JointMessages(SessionContext session, SessionRows rows, SessionResources resources, DurableQueue queue) {
        this.session = session;
        this.rows = rows;
        this.resources = resources;
        this.queue = queue;
    }

    /**
     * Offers a message to the publisher.
     *
     * @param sequence its sequence number in the window; negative if it waits in the backlog
     * @return false if the session stores it by itself
     */
    boolean offer(StoredMessage stored, long sequence, RouteTicket ticket) {
        Part part = new Part(stored, sequence);
        if (!ticket.join(part)) {
            return false;
        }
        if (sequence >= 0) {
            unsafeSent++;
            return true;
        }
        if (waiting == null) {
            waiting = new ArrayDeque<>();
        }
        waiting.add(part);
        return true;
    }

    /** Whether all messages are committed. */
    boolean isEmpty() {
        return waiting == null && unsafeSent == 0;
    }

    /** The number of the first message that the store does not show yet, or {@link Long#MAX_VALUE}. */
    long barrier() {
        return waiting == null ? Long.MAX_VALUE : waiting.element().stored.sequence();
    }

    /** Forgets the waiting messages. */
    void clear() {
        waiting = null;
    }

    /** Removes completed messages from the head: a message was committed, or was dropped. */
    private void removeSettled() {
        ArrayDeque<Part> parts = waiting;
        while (parts != null && !parts.isEmpty() && parts.element().isSettled) {
            parts.remove();
        }
        if (parts != null && parts.isEmpty()) {
            waiting = null;
        }
        queue.fetch();
    }

    /** One message. */
    private final class Part implements JointOperation {

        private final StoredMessage stored;
        private final long sequence;
        private boolean isSettled;

        Part(StoredMessage stored, long sequence) {
            this.stored = stored;
            this.sequence = sequence;
        }

        @Override
        public void submit(StoreWriter writer) {
            writer.putMessage(rows.number(), stored);
        }

        @Override
        public void settled(boolean kept) {
            if (session.isHere()) {
                settledHere(kept);
            } else {
                session.execute(() -> settledHere(kept));
            }
        }

        private void settledHere(boolean kept) {
            if (sequence >= 0) {
                unsafeSent--;
            }
            if (!kept) {
                rows.lost(stored);
            }
            if (session.hasEnded()) {
                if (kept) {
                    endLate();
                }
            } else if (sequence >= 0) {
                queue.completedInFlight(QueueStep.SENT_APPENDED, sequence, kept);
            } else {
                isSettled = true;
                if (!kept) {
                    queue.forget(stored.message().footprintBytes());
                    resources.observer().messageDropped(DropReason.FAILED, 1);
                }
                JointMessages.this.removeSettled();
            }
        }

        /** Handles a message that was stored after the session's end. A message of a group was never sent: other members may have it. */
        private void endLate() {
            if (SharedFilter.isShared(stored.clientFilter())) {
                resources.observer().deliveriesAdded(DeliverySource.REPEATED, 1);
                session.requeue(stored.message(), SharedFilter.of(stored.clientFilter()));
            }
            rows.writer().removeMessage(rows.number(), stored.sequence());
        }
    }
}
