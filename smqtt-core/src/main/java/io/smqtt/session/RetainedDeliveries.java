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

    private static final long SECOND_NANOS = 1_000_000_000;
    private static final long BURST_NANOS = SECOND_NANOS / 10;

    private final ArrayDeque<Pass> passes = new ArrayDeque<>();
    private int steps;
    private boolean interrupted;

    private final int perSecond;
    private long freeNanos;
    private boolean hasSent;
    private boolean resumes;

    /**
     * Creates it without passes.
     *
     * @param perSecond maximum number of messages in a second; 0 for no limit
     */
    RetainedDeliveries(int perSecond) {
        this.perSecond = perSecond;
    }

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

    /** The time until the next message may be sent; 0 if it may be sent now. A tenth of a second's messages may come at once. */
    long waitNanos(long nowNanos) {
        if (perSecond == 0) {
            return 0;
        }
        long earliestNanos = nowNanos - BURST_NANOS;
        if (!hasSent || freeNanos - earliestNanos < 0) {
            freeNanos = earliestNanos;
        }
        return Math.max(0, freeNanos - nowNanos);
    }

    /** Counts a message that is sent. */
    void sent() {
        if (perSecond > 0) {
            hasSent = true;
            freeNanos += SECOND_NANOS / perSecond;
        }
    }

    /** Whether the caller has to resume after the wait; false if that was said before and has not happened yet. */
    boolean mustResume() {
        boolean first = !resumes;
        resumes = true;
        return first;
    }

    void resumed() {
        resumes = false;
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
