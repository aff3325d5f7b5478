// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscriber;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Hands messages of a shared group to members that do not pull: other nodes, and subscribers without a session. Each
 * message stays in the store until the receiver has committed it.
 */
@OnEventLoop
final class GroupHandOver implements GroupPulls.Taker {

    private final Router router;
    private final RoutingLoop loop;
    private final SharedFilter name;
    private final Predicate<? super Subscriber> to;
    private final Outcome outcome;

    /** Receives the outcome of each message, on the event loop of the queue. */
    @FunctionalInterface
    interface Outcome {

        /**
         * Completes the hand-over of a message.
         *
         * @param success whether the receiver has committed it
         * @param last whether it was the last one of its batch
         */
        void handedOver(GroupMessage entry, boolean success, boolean last);
    }

    /**
     * Creates a receiver of messages.
     *
     * @param loop the event loop of the group's queue
     * @param name the group
     * @param to selects the members that get the messages
     */
    GroupHandOver(
            Router router, RoutingLoop loop, SharedFilter name, Predicate<? super Subscriber> to, Outcome outcome) {
        this.router = router;
        this.loop = loop;
        this.name = name;
        this.to = to;
        this.outcome = outcome;
    }

    @Override
    public boolean isThere() {
        SharedGroup group = router.index().group(name.shareName(), name.filter());
        return group != null && group.hasOnlineMember(to);
    }

    @Override
    public void take(List<GroupMessage> batch) {
        AtomicInteger missing = new AtomicInteger(batch.size());
        for (GroupMessage entry : batch) {
            HeldTicket ticket = new HeldTicket(1) {
                @Override
                protected void released(boolean success) {
                    loop.executor().execute(() -> outcome.handedOver(entry, success, missing.decrementAndGet() == 0));
                }
            };
            ApplicationMessage message = entry.message();
            ticket.release(router.handTo(loop, message, name, to, ticket));
        }
    }
}
