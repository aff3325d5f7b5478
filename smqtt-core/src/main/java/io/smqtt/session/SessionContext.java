// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * A session as its outbound flow, its queue and its stored part see it: the event loop that owns it, whether it has ended, and
 * the shared groups that messages come from and return to.
 */
@OnEventLoop
abstract class SessionContext extends GroupMember {

    private final @Nullable TopicShare share;

    /**
     * Creates the context.
     *
     * @param share the part of the topics of its filters that the session takes; null for all
     */
    SessionContext(@Nullable TopicShare share) {
        this.share = share;
    }

    @Override
    @AnyThread
    public final boolean takes(TopicName topic) {
        return share == null || share.has(topic);
    }

    /** Whether the current event loop is the session's, and the session is not moving to it. */
    abstract boolean isHere();

    /** The number of this session, unique in this process. */
    @AnyThread
    abstract long key();

    /**
     * Returns whether the session has ended.
     *
     * @return true once it was removed from the registry
     */
    @AnyThread
    public abstract boolean hasEnded();

    @Override
    @AnyThread
    public final boolean isLocalOnly() {
        return InProcess.isLocalOnly(id());
    }

    /**
     * Runs a task on the session's event loop, also if the session moves to another one in the meantime.
     *
     * @param task the task
     */
    @AnyThread
    public abstract void execute(Runnable task);

    /**
     * Called when the queue has loaded messages, or the store has committed one in flight: the session pulls messages of its
     * groups, or returns those that had to stay until then.
     */
    abstract void deliveriesChanged();

    // --- shared groups

    /** The group of a shared subscription; null if the session is no longer a member. */
    abstract @Nullable MessageGroup groupOf(Subscription subscription);

    /** Returns a message that the session cannot take now to the group of its subscription. */
    abstract void queueInGroup(ApplicationMessage message, Subscription subscription, RouteTicket ticket);

    /** Returns a message to its group although the session has ended. */
    abstract void requeue(ApplicationMessage message, SharedFilter group);

    /**
     * Delays the next pull: the store has rejected a message for this session.
     *
     * @param loop the writes of the current event loop
     */
    abstract void pausePulls(StoreLoop loop);
}
