// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the messages that absent members of a shared group hand over to members on another node for one request: together
 * a quarter of the limits of one queue, so that several nodes may answer. Who has taken it asks again.
 */
@AnyThread
final class HandOverRound {

    private static final int MAXIMUM_MESSAGES = 1_000;
    private static final int SHARE = 4;

    private final SharedFilter group;
    private final String node;
    private final AtomicInteger messages;
    private final AtomicLong bytes;

    HandOverRound(SharedFilter group, String node, LimitsConfig limits) {
        this.group = group;
        this.node = node;
        messages = new AtomicInteger(Math.max(1, Math.min(MAXIMUM_MESSAGES, limits.maxQueuedMessages() / SHARE)));
        bytes = new AtomicLong(Math.max(1, limits.maxQueuedBytes() / SHARE));
    }

    /** The node that has asked. */
    String node() {
        return node;
    }

    /** Whether a message of a subscription may go in this round. */
    boolean includes(Subscription subscription) {
        return !isOver()
                && group.shareName().equals(subscription.shareName())
                && group.filter().equals(subscription.filter());
    }

    /** A message goes. */
    void add(ApplicationMessage message) {
        messages.decrementAndGet();
        bytes.addAndGet(-message.footprintBytes());
    }

    /** Whether as much has gone as may. */
    boolean isOver() {
        return messages.get() <= 0 || bytes.get() <= 0;
    }
}
