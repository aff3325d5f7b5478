// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.spi.StoreWriter;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps retained messages, in memory and in the store. Each topic is written by one event loop, and always as it is in
 * memory at that moment: so the last message in the store is the last one in memory, whoever published it.
 */
public final class RetainedKeeper {

    private final Router router;
    private final @Nullable Stores stores;

    /** For each event loop, the topics that it writes again in a while. */
    private final List<Set<TopicName>> unwritten = new ArrayList<>();

    /** Set before the store is read; null without a cluster. */
    private @Nullable RetainedVersions versions;

    /** Whether the store has more than memory, because the limits allow less than they did. */
    private volatile boolean storeHasMore;

    /**
     * Creates a keeper.
     *
     * @param router the retained messages
     * @param stores where they are kept as well, or null
     */
    public RetainedKeeper(Router router, @Nullable Stores stores) {
        this.router = router;
        this.stores = stores;
        router.loops().forEach(loop -> unwritten.add(new HashSet<>()));
    }

    /**
     * Keeps or clears a retained message. On an event loop.
     *
     * @param loop the current event loop
     * @param message a message with the retain flag
     * @param ticket what waits until the change is safe
     * @return what became of it
     */
    public RetainedMessages.Outcome retain(RoutingLoop loop, ApplicationMessage message, RouteTicket ticket) {
        RetainedMessages.Outcome outcome = router.retain(message);
        boolean changed = outcome == RetainedMessages.Outcome.STORED
                || outcome == RetainedMessages.Outcome.REPLACED
                || outcome == RetainedMessages.Outcome.REMOVED
                // that it is gone may not be safe yet, and who waits is told when it is
                || (outcome == RetainedMessages.Outcome.NOTHING_TO_REMOVE && ticket != RouteTicket.NONE)
                // what only the store has must not come back later, older than what was published since
                || storeHasMore;
        if (stores != null && changed) {
            write(stores, loop, message.topic(), ticket == RouteTicket.NONE ? ticket : ticket.claim());
        }
        return outcome;
    }

    /**
     * Stores versions with the messages. Before the store is read.
     *
     * @param kept supplies them
     */
    public void keepVersions(RetainedVersions kept) {
        versions = kept;
    }

    /** The versions; null if there are none. */
    @Nullable
    RetainedVersions versions() {
        return versions;
    }

    /** Messages were found in the store that the limits do not allow. They stay there, unseen. Before clients connect. */
    void storeHasMore() {
        storeHasMore = true;
    }

    /**
     * Writes a note to the store. On an event loop.
     *
     * @param loop the current event loop
     * @param name the name of the note
     * @param note its content, not changed after this call
     * @param then told on {@code loop} whether it is stored; not called without a store
     */
    public void note(RoutingLoop loop, String name, byte[] note, CommitCallback then) {
        if (stores != null) {
            StoreLoop mine = stores.of(loop);
            mine.writer().putNote(name, note);
            mine.await(then, false);
        }
    }

    /**
     * Writes what is kept of a topic, or that nothing is. On an event loop.
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

    /** Writes a topic again, as it is then. */
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
            return !kept && unwritten.get(index).add(topic); // once, however often it changes meanwhile
        }

        @Override
        public void retry() {
            unwritten.get(index).remove(topic);
            write(loop, index, topic, RouteTicket.NONE);
        }
    }
}
