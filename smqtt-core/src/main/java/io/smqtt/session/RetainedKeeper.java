// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.RetainedPolicyConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RetainedReplication;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.Ticker;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps retained messages in memory and in the store. Each topic is written by one event loop, and always with its value in
 * memory at that moment. So the store ends with the same message as memory, whatever the order of publishers.
 */
public final class RetainedKeeper {

    private final Router router;
    private final @Nullable Stores stores;

    /** For each event loop, the topics whose write is to be retried. */
    private final List<Set<TopicName>> unwritten = new ArrayList<>();

    /** Set before the store is read; null without a cluster. */
    private @Nullable RetainedVersions versions;

    /** Null without rules. */
    private volatile @Nullable RetainedPolicies policies;

    /** Whether the store has messages that are not in memory, because the limits were lowered. */
    private volatile boolean storeHasMore;

    /**
     * Creates a keeper.
     *
     * @param router the retained messages
     * @param stores the store, or null
     */
    public RetainedKeeper(Router router, @Nullable Stores stores) {
        this.router = router;
        this.stores = stores;
        router.loops().forEach(loop -> unwritten.add(new HashSet<>()));
    }

    /**
     * Keeps or clears the retained message of a client or of the application, which have no access to hidden topics. On an event loop.
     *
     * @param loop the current event loop
     * @param message a message with the retain flag
     * @param ticket held until the change is committed, and known to other nodes
     * @return the outcome
     */
    public RetainedMessages.Outcome retain(RoutingLoop loop, ApplicationMessage message, RouteTicket ticket) {
        if (RetainedMessages.isHidden(message.topic().value())) {
            return RetainedMessages.Outcome.HIDDEN;
        }
        RetainedPolicies rules = policies;
        if (rules == null || message.payload().size() == 0) {
            return keep(loop, message, ticket);
        }
        ApplicationMessage allowed = rules.apply(message);
        return allowed == null
                ? router.refuseRetained(RetainedMessages.Outcome.PAYLOAD_EXCEEDED)
                : keep(loop, allowed, ticket);
    }

    /**
     * Keeps or clears the retained message of a topic, also of a hidden one. For the broker itself; on an event loop.
     *
     * @param loop the current event loop
     * @param message a message with the retain flag
     * @param ticket held until the change is committed, and known to other nodes
     * @return the outcome
     */
    public RetainedMessages.Outcome keep(RoutingLoop loop, ApplicationMessage message, RouteTicket ticket) {
        RetainedReplication others =
                ticket == RouteTicket.NONE ? null : router.retained().replication();
        RetainedReplication holder = others != null && others.holdsTickets() ? others : null;
        RetainedMessages.Outcome outcome = router.retain(message);
        boolean changed = outcome == RetainedMessages.Outcome.STORED
                || outcome == RetainedMessages.Outcome.REPLACED
                || outcome == RetainedMessages.Outcome.REMOVED
                // its removal may not be committed yet, and the publisher is acknowledged after that
                || (outcome == RetainedMessages.Outcome.NOTHING_TO_REMOVE && ticket != RouteTicket.NONE)
                // a message that only the store has must not reappear after newer ones
                || storeHasMore;
        if (stores != null && changed) {
            write(stores, loop, message.topic(), ticket == RouteTicket.NONE ? ticket : ticket.claim());
        }
        if (holder != null && !outcome.isRefusal()) {
            holder.hold(ticket.claim());
        }
        return outcome;
    }

    /**
     * Replaces the rules for messages of some topics, for those that are retained from now on. Any thread.
     *
     * @param rules the first one that fits decides
     * @param ticker the broker's monotonic clock
     */
    public void policies(Collection<RetainedPolicyConfig> rules, Ticker ticker) {
        policies = rules.isEmpty() ? null : new RetainedPolicies(rules, ticker);
    }

    /**
     * Stores versions with the messages. Before the store is read.
     *
     * @param kept supplies the versions
     */
    public void keepVersions(RetainedVersions kept) {
        versions = kept;
    }

    /** The versions; null if there are none. */
    @Nullable
    RetainedVersions versions() {
        return versions;
    }

    /** Marks that the store has messages which the limits do not allow in memory. They stay there. Before clients connect. */
    void storeHasMore() {
        storeHasMore = true;
    }

    /**
     * Writes a named value to the store. On an event loop.
     *
     * @param loop the current event loop
     * @param name the name
     * @param note the value, not changed after this call
     * @param then receives on {@code loop} whether it is stored; not called without a store
     */
    public void note(RoutingLoop loop, String name, byte[] note, CommitCallback then) {
        if (stores != null) {
            StoreLoop mine = stores.of(loop);
            mine.writer().putNote(name, note);
            mine.await(then, false);
        }
    }

    /**
     * Writes the retained message of a topic, or its absence. On an event loop.
     *
     * @param loop the current event loop
     * @param topic a topic whose message changed
     */
    public void changed(RoutingLoop loop, TopicName topic) {
        if (stores != null) {
            write(stores, loop, topic, RouteTicket.NONE);
        }
    }

    private void write(Stores known, RoutingLoop loop, TopicName topic, RouteTicket ticket) {
        int index = Math.floorMod(topic.hashCode(), router.loops().size());
        RoutingLoop owner = router.loops().get(index);
        if (owner == loop) {
            write(known.of(owner), index, topic, ticket);
        } else {
            ticket.hold();
            owner.executor().execute(() -> {
                write(known.of(owner), index, topic, ticket);
                ticket.release(true);
            });
        }
    }

    private void write(StoreLoop loop, int index, TopicName topic, RouteTicket ticket) {
        ApplicationMessage current = router.retained().get(topic);
        put(loop.writer(), topic, current, versions == null ? null : versions.of(topic, current));
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        loop.watch(new Change(loop, index, topic));
    }

    private static void put(
            StoreWriter writer,
            TopicName topic,
            @Nullable ApplicationMessage current,
            @Nullable RetainedVersion version) {
        if (current != null && version != null) {
            writer.putRetained(current, version);
        } else if (current != null) {
            writer.putRetained(current);
        } else if (version != null) {
            writer.putRetainedRemoval(topic, version);
        } else {
            writer.removeRetained(topic);
        }
    }

    /** Retries the write of a topic, with its value at that time. */
    private final class Change implements StoreWaiter {

        private final StoreLoop loop;
        private final int index;
        private final TopicName topic;

        Change(StoreLoop loop, int index, TopicName topic) {
            this.loop = loop;
            this.index = index;
            this.topic = topic;
        }

        @Override
        public boolean completed(boolean kept) {
            return !kept && unwritten.get(index).add(topic); // once, however often the topic changes until then
        }

        @Override
        public void retry() {
            unwritten.get(index).remove(topic);
            write(loop, index, topic, RouteTicket.NONE);
        }
    }
}
