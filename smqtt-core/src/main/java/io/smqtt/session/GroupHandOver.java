// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscriber;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Hands messages of a shared group to members that do not pull: other nodes, and subscribers without a session. Each
 * message stays in the store until the receiver has committed it.
 */
@OnEventLoop
final class GroupHandOver implements GroupPulls.Taker {

    private final GroupQueue queue;
    private final GroupQueues groups;
    private final Predicate<? super Subscriber> to;

    GroupHandOver(GroupQueue queue, GroupQueues groups, Predicate<? super Subscriber> to) {
        this.queue = queue;
        this.groups = groups;
        this.to = to;
    }

    @Override
    public boolean isThere() {
        SharedGroup group = groups.group(queue.name());
        return group != null && group.hasOnlineMember(to);
    }

    @Override
    public void take(List<GroupMessage> batch) {
        AtomicInteger missing = new AtomicInteger(batch.size());
        for (GroupMessage entry : batch) {
            HeldTicket ticket = new HeldTicket(1) {
                @Override
                protected void released(boolean success) {
                    queue.owner()
                            .executor()
                            .execute(() -> queue.handedOver(entry, success, missing.decrementAndGet() == 0));
                }
            };
            ticket.release(groups.handTo(queue.owner(), entry.message(), queue.name(), to, ticket));
        }
    }
}
