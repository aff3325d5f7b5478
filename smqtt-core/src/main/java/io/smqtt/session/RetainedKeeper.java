// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
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

    /** Messages were found in the store that the limits do not allow. They stay there, unseen. Before clients connect. */
    void storeHasMore() {
        storeHasMore = true;
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
        if (current == null) {
            loop.writer().removeRetained(topic);
        } else {
            loop.writer().putRetained(current);
        }
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        loop.watch(new Change(loop, index, topic));
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
