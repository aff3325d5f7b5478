// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerModule.Core;
import io.smqtt.routing.GroupBacklog;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscription;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The shared groups of this node for operators. Reads counts that any thread may read, and enters no event loop. */
@AnyThread
final class SharedGroups {

    private final Core core;
    private final SubscriptionIndex index;

    SharedGroups(Core core) {
        this.core = core;
        this.index = core.router().index();
    }

    /** A part of the groups that have members or waiting messages on this node. */
    Slice<SharedGroupInfo> list(Cut cut, Predicate<? super SharedFilter> filter) {
        Set<SharedFilter> found = new HashSet<>();
        index.forEach(subscription -> {
            String share = subscription.shareName();
            if (share != null && isHere(subscription)) {
                found.add(new SharedFilter(share, subscription.filter()));
            }
        });
        Selection<SharedFilter> selection = new Selection<>(
                cut, one -> ListRoom.bytes(one.shareName(), one.filter().value()));
        found.forEach(name -> {
            if (filter.test(name)) {
                selection.add(Selection.hash(name.shareName(), name.filter().value(), null), name);
            }
        });
        Slice<SharedFilter> part = selection.build();
        List<SharedGroupInfo> rows = new ArrayList<>();
        for (SharedFilter name : part.rows()) {
            SharedGroup group = index.group(name.shareName(), name.filter());
            if (group != null) { // it has not ended since
                rows.add(row(group));
            }
        }
        return part.with(rows);
    }

    /** Whether a subscription is a member's on this node, or messages wait here for members on another node. */
    private boolean isHere(Subscription subscription) {
        if (!subscription.subscriber().isRelay()) {
            return true;
        }
        SharedGroup group = index.group(subscription);
        GroupBacklog queue = group == null ? null : group.backlog();
        return queue != null && queue.waiting() > 0;
    }

    private SharedGroupInfo row(SharedGroup group) {
        Members members = new Members();
        group.forEachMember(member -> {
            if (!member.isRelay()) {
                members.all++;
                members.online += member.isOnline() ? 1 : 0;
                members.inFlight += member.inFlightCount();
            }
        });
        GroupBacklog queue = group.backlog();
        int waiting = queue == null ? 0 : queue.waiting();
        return new SharedGroupInfo(
                group.shareName(),
                group.filter().value(),
                members.all,
                members.online,
                members.inFlight,
                waiting,
                queue == null ? 0 : queue.bytes(),
                queue == null || waiting == 0 ? null : millis(queue.waitingSinceNanos()));
    }

    private long millis(long nanos) {
        return System.currentTimeMillis()
                - TimeUnit.NANOSECONDS.toMillis(core.ticker().nanoTime() - nanos);
    }

    /** Running counts of the members of a group. For one thread. */
    private static final class Members {

        private int all;
        private int online;
        private int inFlight;
    }
}
