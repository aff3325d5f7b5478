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
 * Retained messages that new subscriptions asked for and that have not been sent yet, one pass over the topic tree for each
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

    /** Begins a pass; a running one for the same filter restarts. */
    void add(RetainedCursor cursor, Subscription subscription) {
        remove(subscription.filter());
        passes.add(new Pass(cursor, subscription));
    }

    /** Ends the pass of a subscription that has ended [MQTT-3.10.4-3]. */
    void remove(TopicFilter filter) {
        passes.removeIf(pass -> pass.subscription().filter().equals(filter));
    }

    void clear() {
        passes.clear();
    }

    /**
     * The next message of the oldest pass.
     *
     * @param maxSteps the maximum number of topics to examine
     * @return null if that pass is complete, or if no message was found within these steps ({@link #wasInterrupted()})
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

    /** The number of topics that the last call of {@link #next} examined. */
    int steps() {
        return steps;
    }

    boolean wasInterrupted() {
        return interrupted;
    }
}
