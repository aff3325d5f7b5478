// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.routing.SharedGroup;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.concurrent.atomic.AtomicInteger;

/** The members of a shared group on this node, as its queue sees them. */
@OnEventLoop
final class GroupMembers {

    private final SharedFilter name;
    private final LimitsConfig ofOne;
    private final GroupQueues groups;
    private final AtomicInteger all = new AtomicInteger();
    private final AtomicInteger stored = new AtomicInteger();

    // what the queue may hold
    private volatile boolean limitsChanged = true;
    private volatile long maximumMessages;
    private volatile long maximumBytes;

    GroupMembers(SharedFilter name, LimitsConfig ofOne, GroupQueues groups) {
        this.name = name;
        this.ofOne = ofOne;
        this.groups = groups;
    }

    @AnyThread
    void joined(Session member) {
        all.incrementAndGet();
        if (member.isStored()) {
            stored.incrementAndGet();
        }
        limitsChanged = true;
    }

    @AnyThread
    void left(Session member) {
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

    /** Whether a session is among them that survives the process. */
    @AnyThread
    boolean hasStored() {
        return stored.get() > 0;
    }

    /** The limits of a member are others now. */
    @AnyThread
    void limitsChanged() {
        limitsChanged = true;
    }

    /** The queue holds as many messages as the queues of the members would hold together. */
    @AnyThread
    long maximumMessages() {
        lookAtLimits();
        return maximumMessages;
    }

    /** The same in bytes. */
    @AnyThread
    long maximumBytes() {
        lookAtLimits();
        return maximumBytes;
    }

    @AnyThread
    private void lookAtLimits() {
        if (!limitsChanged) {
            return;
        }
        limitsChanged = false;
        long[] sums = {0, 0};
        SharedGroup group = groups.group(name);
        if (group != null) {
            group.forEachMember(member -> {
                if (member instanceof Session session) {
                    sums[0] += session.limits().maxQueuedMessages();
                    sums[1] += session.limits().maxQueuedBytes();
                }
            });
        }
        maximumMessages = Math.max(sums[0], ofOne.maxQueuedMessages());
        maximumBytes = Math.max(sums[1], ofOne.maxQueuedBytes());
    }

    /** A member has come: absent ones give it what they were sent and have not acknowledged. */
    @AnyThread
    void gatherFromAbsent() {
        SharedGroup group = groups.group(name);
        if (group != null) {
            group.forEachMember(member -> {
                if (member instanceof Session absent && !absent.isOnline() && absent.inFlightCount() > 0) {
                    absent.execute(() -> absent.member().giveBackWhileAbsent());
                }
            });
        }
    }
}
