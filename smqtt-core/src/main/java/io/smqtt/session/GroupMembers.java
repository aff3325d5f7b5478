// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The members of a shared group on this node, for the group's queue. */
@OnEventLoop
final class GroupMembers {

    private final SharedFilter name;
    private final LimitsConfig ofOne;
    private final SubscriptionIndex index;
    private final AtomicInteger all = new AtomicInteger();
    private final AtomicInteger stored = new AtomicInteger();

    // the limits of the queue
    private volatile boolean limitsChanged = true;
    private volatile long maximumMessages;
    private volatile long maximumBytes;

    GroupMembers(SharedFilter name, LimitsConfig ofOne, SubscriptionIndex index) {
        this.name = name;
        this.ofOne = ofOne;
        this.index = index;
    }

    @AnyThread
    void add(GroupMember member) {
        all.incrementAndGet();
        if (member.isStored()) {
            stored.incrementAndGet();
        }
        limitsChanged = true;
    }

    @AnyThread
    void remove(GroupMember member) {
        all.decrementAndGet();
        if (member.isStored()) {
            stored.decrementAndGet();
        }
        limitsChanged = true;
    }

    @AnyThread
    boolean isEmpty() {
        return all.get() == 0;
    }

    /** Whether one of the members is a stored session. */
    @AnyThread
    boolean hasStored() {
        return stored.get() > 0;
    }

    /** Marks the limits of a member as changed. */
    @AnyThread
    void limitsChanged() {
        limitsChanged = true;
    }

    /** The maximum number of messages: the sum of the members' queue limits. */
    @AnyThread
    long maximumMessages() {
        updateLimits();
        return maximumMessages;
    }

    /** The maximum number of bytes: the sum of the members' queue limits. */
    @AnyThread
    long maximumBytes() {
        updateLimits();
        return maximumBytes;
    }

    @AnyThread
    private void updateLimits() {
        if (!limitsChanged) {
            return;
        }
        limitsChanged = false;
        long[] sums = {0, 0};
        forEach(member -> {
            sums[0] += member.limits().maxQueuedMessages();
            sums[1] += member.limits().maxQueuedBytes();
        });
        maximumMessages = Math.max(sums[0], ofOne.maxQueuedMessages());
        maximumBytes = Math.max(sums[1], ofOne.maxQueuedBytes());
    }

    /** Called when a member has connected: absent members give back their unacknowledged messages. */
    @AnyThread
    void gatherFromAbsent() {
        forEach(member -> {
            if (!member.isOnline() && member.inFlightCount() > 0) {
                member.giveBackWhileAbsent();
            }
        });
    }

    @AnyThread
    private void forEach(Consumer<GroupMember> action) {
        SharedGroup group = index.group(name.shareName(), name.filter());
        if (group != null) {
            group.forEachMember(subscriber -> {
                if (subscriber instanceof GroupMember member) {
                    action.accept(member);
                }
            });
        }
    }
}
