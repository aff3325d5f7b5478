// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RetainedCursor;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Retained messages that new subscriptions asked for and that have not been sent yet, one pass over the tree for each
 * filter. They outlive the connection, as the subscription does.
 */
@OnEventLoop
final class RetainedDeliveries {

    private final ArrayDeque<Pass> passes = new ArrayDeque<>();
    private int steps;
    private boolean interrupted;

    private record Pass(RetainedCursor cursor, Subscription subscription) {}

    boolean isEmpty() {
        return passes.isEmpty();
    }

    /** Begins a pass; one that is under way for the same filter begins anew. */
    void add(RetainedCursor cursor, Subscription subscription) {
        remove(subscription.filter());
        passes.add(new Pass(cursor, subscription));
    }

    /** The subscription has ended [MQTT-3.10.4-3]. */
    void remove(TopicFilter filter) {
        passes.removeIf(pass -> pass.subscription().filter().equals(filter));
    }

    void clear() {
        passes.clear();
    }

    /**
     * The next message of the oldest pass.
     *
     * @param maxSteps how many topics to look at
     * @return null if that pass is over, or if it took so many steps without finding one ({@link #wasInterrupted()})
     */
    @Nullable
    ApplicationMessage next(long nowNanos, int maxSteps) {
        RetainedCursor cursor = passes.element().cursor();
        ApplicationMessage message = cursor.next(nowNanos, maxSteps);
        steps = cursor.steps();
        interrupted = message == null && !cursor.isDone();
        if (message == null && !interrupted) {
            passes.remove();
        }
        return message;
    }

    /** The subscription of the oldest pass. */
    Subscription subscription() {
        return passes.element().subscription();
    }

    /** How many topics the last call of {@link #next} looked at. */
    int steps() {
        return steps;
    }

    boolean wasInterrupted() {
        return interrupted;
    }
}
