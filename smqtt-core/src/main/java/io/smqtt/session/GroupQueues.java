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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues of all shared groups of this node, by group. A queue exists as long as its group has a member on any node, or its members may be on a node that is
 * away.
 */
@AnyThread
final class GroupQueues {

    private static final Logger LOG = LoggerFactory.getLogger(GroupQueues.class);

    /** The time after which other nodes have announced their members, or are forgotten. */
    private static final Duration MEMBERS_KNOWN = Duration.ofMinutes(15);

    /** The maximum hand-over per request of another node: a quarter of one queue in total, so that several nodes may answer. */
    private static final int MAXIMUM_HANDED_OVER = 1_000;

    private static final int SHARE = 4;

    private final SessionResources resources;
    private final DeliveryHistory history;
    private final Router router;
    private final ConcurrentMap<SharedFilter, GroupQueue> queues = new ConcurrentHashMap<>();
    private volatile @Nullable GroupWatch watch;

    /** Groups with members that were given back to their node, which may be away still. */
    private final Set<SharedFilter> kept = ConcurrentHashMap.newKeySet();

    /** Whether all stored sessions are recovered. */
    private volatile boolean complete;

    /**
     * Creates it without queues.
     *
     * @param history records what queues and sessions take
     */
    GroupQueues(SessionResources resources, DeliveryHistory history) {
        this.resources = resources;
        this.history = history;
        this.router = resources.router();
        this.complete = resources.stores() == null;
        router.backlogs(this::of);
        router.index().whenGroupEnds(this::ended);
    }

    /** Returns the queue of a group, and creates it if it does not exist. */
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
        return new GroupQueue(name, resources, this, ownerOf(name));
    }

    /** The event loop of the queue of a group. */
    RoutingLoop ownerOf(SharedFilter name) {
        List<RoutingLoop> loops = router.loops();
        int hash = name.hashCode();
        return loops.get(Math.floorMod(hash ^ hash >>> 16, loops.size()));
    }

    @Nullable
    SharedGroup group(SharedFilter name) {
        return router.index().group(name.shareName(), name.filter());
    }

    /** Returns the queue for a session's subscription; null if the subscription has ended. */
    @Nullable
    GroupQueue join(GroupMember member, Subscription subscription) {
        SharedGroup group = router.index().group(subscription);
        if (group == null) {
            return null;
        }
        GroupQueue queue = of(group);
        queue.members().add(member);
        return queue;
    }

    /** Ends the queue of a group without members. Under the lock of the index. */
    private void ended(SharedFilter name) {
        GroupQueue queue = queues.get(name);
        if (queue != null && !(queue.record().wasRecovered() && !complete) && !kept.contains(name)) {
            queues.remove(name, queue);
            queue.end();
        }
    }

    /** Ends a queue that was made while its group ended. */
    void endIfUnused(GroupQueue queue) {
        router.index().endIfEmpty(queue.name());
    }

    /** The messages that queues and sessions have taken lately. */
    DeliveryHistory history() {
        return history;
    }

    /** The queue of a group; null if it has none now. */
    @Nullable
    GroupQueue queue(SharedFilter name) {
        return queues.get(name);
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

    /** Whether a group has another connected member, on any node. */
    boolean hasOthersOnline(GroupQueue queue, Subscriber member) {
        SharedGroup group = group(queue.name());
        return group != null && group.hasOnlineMember(other -> other != member);
    }

    /** The number of messages in all queues. */
    long waiting() {
        long sum = 0;
        for (GroupQueue queue : queues.values()) {
            sum += queue.waiting();
        }
        return sum;
    }

    /** The footprint of the messages in all queues, in bytes. */
    long bytes() {
        long sum = 0;
        for (GroupQueue queue : queues.values()) {
            sum += queue.bytes();
        }
        return sum;
    }

    // --- at the start

    /** Restores the queue of a group from the store. */
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
     * Completes the recovery of sessions.
     *
     * @param all false if some sessions did not fit: recovered queues stay until the next start, since those may be members
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

    /** Keeps a queue without members until the nodes of former members have announced these again, or are forgotten. */
    void keep(GroupQueue queue) {
        if (kept.add(queue.name())) {
            Runnable end = () -> {
                kept.remove(queue.name());
                endForgotten(queue);
            };
            queue.owner().executor().schedule(end, MEMBERS_KNOWN.toMillis(), TimeUnit.MILLISECONDS);
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

    /** Finds another member for a message, or a place in the queue. If there is neither, the message is counted as dropped. */
    void requeue(RoutingLoop loop, SharedFilter name, ApplicationMessage message, RouteTicket ticket) {
        SharedGroup group = group(name);
        if (group != null) {
            of(group); // the queue may have ended
        }
        router.redispatch(loop, message, name, ticket);
    }

    /**
     * Queues a message that a member of its group cannot take. On the member's event loop.
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
            } catch (RuntimeException e) { // the publisher must not wait for ever
                LOG.error("a message could not be queued for its shared subscription", e);
                ticket.release(false);
            }
        });
    }

    private static SharedFilter shared(Subscription subscription) {
        return new SharedFilter(Objects.requireNonNull(subscription.shareName()), subscription.filter());
    }

    // --- between nodes

    /** Registers a watch for groups whose members on other nodes may have room or messages. It gets the groups that wait already. */
    void watch(GroupWatch notified) {
        watch = notified;
        for (GroupQueue queue : queues.values()) {
            if (queue.waiting() > 0) {
                notified.held(queue.name(), false);
            }
        }
    }

    /** Whether messages of a group wait. */
    boolean holds(SharedFilter name) {
        GroupQueue queue = queues.get(name);
        return queue != null && queue.waiting() > 0;
    }

    /** Reports a group again if its messages wait: another node has a member more. */
    void joinedElsewhere(SharedFilter name) {
        GroupQueue queue = queues.get(name);
        if (queue != null) {
            held(queue);
        }
    }

    /** Reports that messages wait: other nodes may pull them. */
    void held(GroupQueue queue) {
        GroupWatch notified = watch;
        SharedGroup group = notified == null || queue.waiting() == 0 ? null : group(queue.name());
        if (notified != null && group != null) {
            notified.held(queue.name(), group.hasOnlineMember(Subscriber::isRelay));
        }
    }

    /** Reports that a member of this node has room and the queue is empty. A node without members may have messages of the group, too. */
    void wanted(GroupQueue queue) {
        boolean waits = queue.waitsElsewhere();
        if (waits) {
            queue.waitsElsewhere(false);
        }
        GroupWatch notified = watch;
        SharedGroup group = notified == null ? null : group(queue.name());
        if (notified != null && group != null && (waits || group.hasOnlineMember(Subscriber::isRelay))) {
            notified.wanted(queue.name());
        }
    }

    /** Whether a member of this node has room for messages of other nodes; if not, it asks when it has. */
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

    /** Hands waiting messages to members on another node. */
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
                        queue.handOverTo(member -> node.equals(member.relaysTo())),
                        Math.max(1, Math.min(MAXIMUM_HANDED_OVER, limits.maxQueuedMessages() / SHARE)),
                        Math.max(1, limits.maxQueuedBytes() / SHARE));
    }
}
