// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import org.jspecify.annotations.Nullable;

/**
 * Moves the queue of a shared group from an adopted store to that of this node, in its order. A message is first stored here, and then its row is removed
 * there, which shows that no other node serves the adopted store. Members get it after that; if the removal fails, it is removed here again. A crash in between leaves it in both stores.
 */
@OnEventLoop
final class GroupMove {

    private static final int PAGE_MESSAGES = 100;

    /** After a failure so many calls begin nothing. */
    private static final int PAUSES = 4;

    private final SessionResources resources;
    private final Stores adopted;
    private final RoutingLoop loop;
    private final SharedFilter name;
    private final long number;
    private boolean reading;
    private boolean over;
    private boolean stopped;
    private int moving;
    private int pauses;
    private Runnable whenIdle = () -> {};

    /**
     * Creates a move that has not begun.
     *
     * @param adopted the adopted store
     * @param loop the event loop of the group's queue on this node
     * @param number the number of the queue in the adopted store
     */
    GroupMove(SessionResources resources, Stores adopted, RoutingLoop loop, SharedFilter name, long number) {
        this.resources = resources;
        this.adopted = adopted;
        this.loop = loop;
        this.name = name;
        this.number = number;
    }

    @AnyThread
    SharedFilter name() {
        return name;
    }

    /** Whether the adopted store has no more messages of the group. */
    boolean isOver() {
        return over;
    }

    /** Whether no message is in flight. */
    boolean isIdle() {
        return !reading && moving == 0;
    }

    /** Moves the next page, if the queue here is empty and the last page has moved. */
    void next(GroupQueue queue) {
        if (pauses > 0) {
            pauses--;
        } else if (isIdle() && queue.waiting() == 0) {
            reading = true;
            adopted.store()
                    .read(number, 0, PAGE_MESSAGES, Stores.PAGE_BYTES, loop.executor(), page -> read(queue, page));
        }
    }

    /** Moves nothing more; the task runs when no message is in flight. */
    void stop(Runnable then) {
        stopped = true;
        whenIdle = then;
        ifIdle();
    }

    private void ifIdle() {
        if (isIdle()) {
            Runnable then = whenIdle;
            whenIdle = () -> {};
            then.run();
        }
    }

    private void read(GroupQueue queue, StoredPage page) {
        reading = false;
        Throwable failure = page.failure();
        if (failure != null) {
            adopted.of(loop).readFailed(failure);
            pauses = PAUSES;
        } else if (page.messages().isEmpty()) {
            over = true;
        } else if (!stopped && queue.record().number(queue.loop()) != 0) { // from now on the group is stored here
            for (StoredMessage row : page.messages()) {
                if (!queue.hasRoom() || !move(queue, row)) {
                    break; // the order stays
                }
            }
        }
        ifIdle();
    }

    /** Moves a message; false if the queue here does not take it. */
    private boolean move(GroupQueue queue, StoredMessage row) {
        ApplicationMessage message = row.message();
        if (message.isExpired(resources.ticker().nanoTime())) {
            resources.observer().messageDropped(DropReason.EXPIRED, 1);
            remove(row, kept -> {});
            return true;
        }
        Moved moved = new Moved(queue, row);
        moving++;
        queue.move(message, moved);
        if (!moved.refused) {
            resources.observer().deliveriesAdded(DeliverySource.RECOVERED, 1);
        }
        moved.submit();
        moved.release(true);
        return !moved.refused;
    }

    private void remove(StoredMessage row, CommitCallback removed) {
        StoreLoop theirs = adopted.of(loop);
        theirs.writer().removeHandedOver(number, row.sequence()); // not tried again
        moving++;
        theirs.await(
                (CommitCallback) kept -> {
                    removed.committed(kept);
                    left();
                },
                theirs.isStable());
    }

    private void left() {
        moving--;
        ifIdle();
    }

    /** A message in flight: held until it is stored here. */
    @AnyThread
    private final class Moved extends HeldTicket {

        private final GroupQueue queue;
        private final StoredMessage row;
        private final boolean stable;

        /** The copy here; null if the queue has ended meanwhile, and another one, or a member, has the message. */
        private @Nullable JointGroupMessage copy;

        private volatile boolean refused;

        Moved(GroupQueue queue, StoredMessage row) {
            super(1);
            this.queue = queue;
            this.row = row;
            this.stable = queue.loop().isStable();
        }

        @Override
        public boolean wantsStable() {
            return stable;
        }

        @Override
        public boolean mayBeSlowed() {
            return false;
        }

        @Override
        public boolean join(JointOperation operation) {
            boolean isOfQueue = operation instanceof JointGroupMessage;
            if (isOfQueue) {
                copy = (JointGroupMessage) operation;
            }
            return isOfQueue;
        }

        @Override
        public void dropped(DropReason reason) {
            refused = true;
        }

        @OnEventLoop
        void submit() {
            JointGroupMessage part = copy;
            if (part != null) {
                part.submit(queue.loop().writer());
                queue.loop().await(this);
            }
        }

        @Override
        protected void released(boolean success) {
            loop.executor().execute(() -> stored(success && !refused));
        }

        @OnEventLoop
        private void stored(boolean kept) {
            JointGroupMessage part = copy;
            if (kept) {
                remove(row, this::settle);
            } else {
                pauses = PAUSES;
                if (part != null) {
                    part.settled(false);
                }
            }
            left();
        }

        @OnEventLoop
        private void settle(boolean removed) {
            JointGroupMessage part = copy;
            if (!removed) {
                pauses = PAUSES;
            }
            if (part != null && !removed) {
                part.discard(); // before the queue may read on
            }
            if (part != null) {
                part.settled(removed);
            }
        }
    }
}
