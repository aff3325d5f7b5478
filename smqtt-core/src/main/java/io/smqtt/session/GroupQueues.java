// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The queues of all shared groups of this node, by group. A queue is there as long as its group has a member on any node. */
@AnyThread
final class GroupQueues {

    private static final Logger LOG = LoggerFactory.getLogger(GroupQueues.class);

    /** Other nodes have told their members by then, or are forgotten. */
    private static final Duration MEMBERS_KNOWN = Duration.ofMinutes(15);

    /** What is handed over to another node for one request: together a quarter of one queue, so that several may answer. */
    private static final int MAXIMUM_HANDED_OVER = 1_000;

    private static final int SHARE = 4;

    private final SessionResources resources;
    private final Router router;
    private final ConcurrentMap<SharedFilter, GroupQueue> queues = new ConcurrentHashMap<>();
    private volatile @Nullable GroupWatch watch;

    /** Whether all sessions of the store are there. */
    private volatile boolean complete;

    GroupQueues(SessionResources resources) {
        this.resources = resources;
        this.router = resources.router();
        this.complete = resources.stores() == null;
        router.backlogs(this::of);
        router.index().whenGroupEnds(this::ended);
    }

    Stores stores() {
        return Objects.requireNonNull(resources.stores());
    }

    /** The queue of a group, which is made if there is none. */
    GroupQueue of(SharedGroup group) {
        SharedFilter name = new SharedFilter(group.shareName(), group.filter());
        GroupQueue queue = queues.computeIfAbsent(name, this::create);
        while (queue.hasEnded()) { // it is about to be removed
            queues.remove(name, queue);
            queue = queues.computeIfAbsent(name, this::create);
        }
        group.backlog(queue);
        return queue;
    }

    private GroupQueue create(SharedFilter name) {
        List<RoutingLoop> loops = router.loops();
        int hash = name.hashCode();
        return new GroupQueue(name, resources, this, loops.get(Math.floorMod(hash ^ hash >>> 16, loops.size())));
    }

    @Nullable
    SharedGroup group(SharedFilter name) {
        return router.index().group(name.shareName(), name.filter());
    }

    /** A session has a subscription; null if that is gone already. */
    @Nullable
    GroupQueue join(Session member, Subscription subscription) {
        SharedGroup group = router.index().group(subscription);
        if (group == null) {
            return null;
        }
        GroupQueue queue = of(group);
        queue.members().joined(member);
        return queue;
    }

    /** A group has no members any more. Under the lock of the index. */
    private void ended(SharedFilter name) {
        GroupQueue queue = queues.get(name);
        if (queue != null && !(queue.record().wasRecovered() && !complete)) {
            queues.remove(name, queue);
            queue.end();
        }
    }

    /** Ends a queue that was made while its group ended. */
    void endIfUnused(GroupQueue queue) {
        router.index().endIfEmpty(queue.name());
    }

    boolean hasMembersElsewhere(SharedFilter name) {
        if (watch == null) {
            return false;
        }
        SharedGroup group = group(name);
        boolean[] found = {false};
        if (group != null) {
            group.forEachMember(member -> found[0] |= member.isRelay());
        }
        return found[0];
    }

    /** Whether a group has another member that is there, on any node. */
    boolean hasOthersOnline(GroupQueue queue, Session member) {
        SharedGroup group = group(queue.name());
        return group != null && group.hasOnlineMember(other -> other != member);
    }

    /** How many messages wait in all queues. */
    long waiting() {
        long sum = 0;
        for (GroupQueue queue : queues.values()) {
            sum += queue.waiting();
        }
        return sum;
    }

    /** What the messages in all queues take, as limits count it. */
    long bytes() {
        long sum = 0;
        for (GroupQueue queue : queues.values()) {
            sum += queue.bytes();
        }
        return sum;
    }

    // --- at the start

    /** Takes over the queue of a group that was found in the store. */
    void recovered(SharedFilter name, StoredSession stored, StoredQueue waiting) {
        queues.computeIfAbsent(name, this::create)
                .recovered(
                        stored.number(),
                        waiting.firstSequence(),
                        waiting.nextSequence(),
                        waiting.messages(),
                        waiting.bytes());
    }

    /**
     * All sessions were found.
     *
     * @param all false if some did not fit: queues that were found stay until the next start, since those may be members
     */
    void recovered(boolean all) {
        complete = all;
        for (GroupQueue queue : queues.values()) {
            queue.recovered();
            if (all && group(queue.name()) == null) {
                queue.owner()
                        .executor()
                        .schedule(() -> endForgotten(queue), MEMBERS_KNOWN.toMillis(), TimeUnit.MILLISECONDS);
            }
        }
    }

    private void endForgotten(GroupQueue queue) {
        int waiting = queue.waiting();
        endIfUnused(queue);
        if (queue.hasEnded() && waiting > 0) {
            LOG.warn(
                    "dropped {} stored messages of the shared subscription {}: it has no subscribers on any node",
                    waiting,
                    queue.name());
        }
    }

    // --- messages

    /** Finds another member for a message, or a place in the queue; it is counted as dropped if there is neither. */
    void requeue(RoutingLoop loop, SharedFilter name, ApplicationMessage message, RouteTicket ticket) {
        SharedGroup group = group(name);
        if (group != null) {
            of(group); // the queue may have ended
        }
        router.redispatch(loop, message, name, ticket);
    }

    /**
     * Puts a message into the queue that a member of its group cannot take. On the member's event loop.
     *
     * @param subscription the member's, which may have ended
     */
    @OnEventLoop
    void add(RoutingLoop loop, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        SharedGroup group = router.index().group(subscription);
        if (group == null || message.qos() == QoS.AT_MOST_ONCE) {
            requeue(loop, shared(subscription), message, ticket);
            return;
        }
        GroupQueue queue = of(group);
        if (queue.owner() == loop) {
            queue.deliver(message, queue.subscription(), ticket);
            return;
        }
        ticket.hold();
        queue.owner().executor().execute(() -> {
            try {
                queue.deliver(message, queue.subscription(), ticket);
                ticket.release(true);
            } catch (RuntimeException e) { // who waits for it must not wait for ever
                LOG.error("a message could not be queued for its shared subscription", e);
                ticket.release(false);
            }
        });
    }

    private static SharedFilter shared(Subscription subscription) {
        return new SharedFilter(Objects.requireNonNull(subscription.shareName()), subscription.filter());
    }

    // --- between nodes

    /** Has somebody notified of groups whose members could stand in for each other across nodes. */
    void watch(GroupWatch notified) {
        watch = notified;
    }

    /** Messages wait: other nodes may ask for them. */
    void held(GroupQueue queue) {
        GroupWatch notified = watch;
        SharedGroup group = notified == null || queue.waiting() == 0 ? null : group(queue.name());
        if (notified != null && group != null) {
            notified.held(queue.name(), group.hasOnlineMember(Subscriber::isRelay));
        }
    }

    /** A member of this node has room, and nothing waits here for it. */
    void wanted(GroupQueue queue) {
        GroupWatch notified = watch;
        SharedGroup group = notified == null ? null : group(queue.name());
        if (notified != null && group != null && group.hasOnlineMember(Subscriber::isRelay)) {
            notified.wanted(queue.name());
        }
    }

    /** Whether a member of this node has room for what waits on other nodes; if not, it asks when it has. */
    boolean hasTaker(SharedFilter name) {
        SharedGroup group = group(name);
        if (group == null) {
            return false;
        }
        GroupQueue queue = of(group);
        boolean found = queue.waiting() == 0 && group.hasOnlineMember(member -> !member.isRelay() && member.hasRoom());
        queue.waitsElsewhere(!found);
        return found;
    }

    /** Members on another node have room: what waits here goes there. */
    void handOver(SharedFilter name, String node) {
        GroupQueue queue = queues.get(name);
        if (queue == null) {
            return;
        }
        queue.members().gatherFromAbsent();
        LimitsConfig limits = resources.limits();
        queue.pulls()
                .pull(
                        node,
                        new GroupHandOver(queue, this, member -> node.equals(member.relaysTo())),
                        Math.max(1, Math.min(MAXIMUM_HANDED_OVER, limits.maxQueuedMessages() / SHARE)),
                        Math.max(1, limits.maxQueuedBytes() / SHARE));
    }

    /** Gives a message to a member; false if none of those is there. */
    boolean handTo(
            RoutingLoop loop,
            ApplicationMessage message,
            SharedFilter name,
            Predicate<? super Subscriber> to,
            RouteTicket ticket) {
        return router.handTo(loop, message, name, to, ticket);
    }
}
