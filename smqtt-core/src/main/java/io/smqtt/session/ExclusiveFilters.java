// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.ExclusiveSubscription;
import io.smqtt.routing.Subscriber;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The filters of exclusive subscriptions on this node, each with the session that has it. */
@AnyThread
public final class ExclusiveFilters {

    private final Map<TopicFilter, Subscriber> holders = new ConcurrentHashMap<>();
    private final LongAdder refused = new LongAdder();
    private volatile boolean enabled;

    ExclusiveFilters() {}

    /** Gives {@code $exclusive/} its meaning; otherwise it is the first level of a topic like any other. Called before the start. */
    public void enable() {
        enabled = true;
    }

    /**
     * Whether the filter of a client is exclusive.
     *
     * @param clientFilter the filter of a SUBSCRIBE or UNSUBSCRIBE
     * @return false if exclusive subscriptions are off
     */
    public boolean isExclusive(String clientFilter) {
        return enabled && clientFilter.startsWith(ExclusiveSubscription.PREFIX);
    }

    /**
     * Whether exclusive and shared are combined, in whatever order.
     *
     * @param clientFilter the filter of a SUBSCRIBE or UNSUBSCRIBE
     * @return true if the filter is to be refused
     */
    public boolean isContradiction(String clientFilter) {
        if (isExclusive(clientFilter)) {
            String rest = clientFilter.substring(ExclusiveSubscription.PREFIX.length());
            return SharedFilter.isShared(rest) || isExclusive(rest);
        }
        return enabled
                && SharedFilter.isShared(clientFilter)
                && clientFilter.indexOf('/' + ExclusiveSubscription.PREFIX, SharedFilter.PREFIX.length()) > 0;
    }

    /**
     * Parses the filter of a client.
     *
     * @param clientFilter a filter that {@link #isExclusive}
     * @return the filter without the prefix
     * @throws io.smqtt.topic.InvalidTopicException if it is none
     */
    public static TopicFilter parse(String clientFilter) {
        return TopicFilter.of(clientFilter.substring(ExclusiveSubscription.PREFIX.length()));
    }

    /**
     * Claims a filter for an exclusive subscription that is made next.
     *
     * @param filter the filter without its prefix
     * @param session the session
     * @return false if a session of another client of this node has it
     */
    public boolean claim(TopicFilter filter, Subscriber session) {
        Subscriber holder = holders.compute(
                filter, (key, present) -> present == null || present.id().equals(session.id()) ? session : present);
        return holder == session;
    }

    /** Releases a filter, if this session has it. */
    void release(TopicFilter filter, Subscriber session) {
        holders.remove(filter, session);
    }

    /** Counts a subscription that is refused because another client has one. */
    public void refused() {
        refused.increment();
    }

    /**
     * The client that has an exclusive subscription on this node.
     *
     * @param filter the filter without the prefix
     * @return its client identifier; null if none has
     */
    public @Nullable String holder(TopicFilter filter) {
        Subscriber session = holders.get(filter);
        return session == null ? null : session.id();
    }

    /**
     * The number of exclusive subscriptions.
     *
     * @return those of this node
     */
    public int count() {
        return holders.size();
    }

    /**
     * The number of subscriptions that were refused because another client had one.
     *
     * @return refusals since the start
     */
    public long refusals() {
        return refused.sum();
    }
}
