// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.netty.util.concurrent.FastThreadLocal;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.session.SessionRegistry;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects the cluster with the router: routes of other nodes become subscriptions, and messages of other nodes are routed here. On the
 * cluster's loop; routing itself runs on event loops, with all messages of one publisher on the same one.
 */
final class RouterPart implements LocalPart {

    private static final Logger LOG = LoggerFactory.getLogger(RouterPart.class);

    /**
     * The maximum number of seats of one node in one group: bounds the work per message while the node is unreachable, and the cost of a
     * wrong number.
     */
    private static final int MAXIMUM_SEATS = 1_024;

    private final Router router;
    private final SessionRegistry sessions;
    private final boolean awaits;
    private final List<PacedRouting> paced;
    private final Deque<Integer> freeNumbers = new ArrayDeque<>();
    private int peers;
    private final FastThreadLocal<LoopBuffers> buffers = new FastThreadLocal<>() {
        @Override
        protected LoopBuffers initialValue() {
            for (RoutingLoop loop : router().loops()) {
                if (loop.executor().inEventLoop()) {
                    return new LoopBuffers(loop.executor());
                }
            }
            return new LoopBuffers(null);
        }
    };

    /**
     * Creates the part.
     *
     * @param router the broker's router
     * @param sessions the broker's sessions
     * @param awaits whether publishers wait for other nodes
     */
    RouterPart(Router router, SessionRegistry sessions, boolean awaits) {
        this.router = router;
        this.sessions = sessions;
        this.awaits = awaits;
        this.paced = router.loops().stream()
                .map(loop -> new PacedRouting(loop, router, message -> routeAlone(loop, message), this::afterRouted))
                .toList();
    }

    private Router router() {
        return router;
    }

    @Override
    public RemoteRoutes join(String nodeId, PeerOutbox outbox) {
        Integer free = freeNumbers.poll();
        int number = free == null ? peers++ : free;
        PeerSubscriber peer = new PeerSubscriber(nodeId, number, outbox, awaits, buffers);
        Map<String, Deque<PeerSubscriber>> seats = new HashMap<>();
        return new RemoteRoutes() {
            @Override
            public void changed(RouteRow row) {
                if (SharedFilter.isShared(row.filter())) {
                    seat(peer, SharedFilter.of(row.filter()), row.members(), seats);
                } else if (row.isRemoval()) {
                    router.index().remove(peer, TopicFilter.of(row.filter()), null);
                } else {
                    int identifier = row.endsWithNode() ? Subscription.NO_IDENTIFIER : PeerSubscriber.DURABLE;
                    router.index().add(subscription(peer, TopicFilter.of(row.filter()), null, identifier));
                }
            }

            @Override
            public void left() {
                freeNumbers.add(number);
            }
        };
    }

    private static Subscription subscription(
            PeerSubscriber peer, TopicFilter filter, @Nullable String shareName, int identifier) {
        return new Subscription(peer, filter, shareName, QoS.EXACTLY_ONCE, false, true, identifier);
    }

    /** Sets the number of seats of a node in a group to the number of its members. */
    private void seat(PeerSubscriber peer, SharedFilter group, int members, Map<String, Deque<PeerSubscriber>> seats) {
        Deque<PeerSubscriber> taken = seats.computeIfAbsent(group.toString(), key -> new ArrayDeque<>());
        int wanted = Math.min(members, MAXIMUM_SEATS);
        boolean joins = taken.size() < wanted;
        while (taken.size() < wanted) {
            PeerSubscriber seat = peer.seat();
            taken.push(seat);
            router.index().add(subscription(seat, group.filter(), group.shareName(), Subscription.NO_IDENTIFIER));
        }
        while (taken.size() > wanted) {
            router.index().remove(taken.pop(), group.filter(), group.shareName());
        }
        if (taken.isEmpty()) {
            seats.remove(group.toString());
        } else if (joins) {
            sessions.joinedElsewhere(group);
        }
    }

    @Override
    public void deliver(List<InboundMessage> messages) {
        List<RoutingLoop> loops = router.loops();
        @Nullable List<InboundMessage>[] byLoop = lists(loops.size());
        for (InboundMessage inbound : messages) {
            int number = loopNumberOf(inbound.forwarded().message());
            List<InboundMessage> mine = byLoop[number];
            if (mine == null) {
                mine = new ArrayList<>(messages.size());
                byLoop[number] = mine;
            }
            mine.add(inbound);
        }
        for (int i = 0; i < byLoop.length; i++) {
            List<InboundMessage> mine = byLoop[i];
            if (mine != null) {
                execute(loops.get(i), mine);
            }
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static @Nullable List<InboundMessage>[] lists(int count) {
        return new List[count];
    }

    /** The event loop for all messages of one publisher, so that they keep their order. */
    private RoutingLoop loopOf(ApplicationMessage message) {
        return router.loops().get(loopNumberOf(message));
    }

    private int loopNumberOf(ApplicationMessage message) {
        String publisher = message.publisherId();
        int hash = publisher == null ? message.topic().hashCode() : publisher.hashCode();
        return Math.floorMod(hash ^ hash >>> 16, router.loops().size());
    }

    private void execute(RoutingLoop loop, List<InboundMessage> messages) {
        if (loop.executor().isShuttingDown() || !execute(loop, () -> route(loop, messages))) {
            InboundMessage.releaseAll(messages, false);
        }
    }

    /** Runs a task on an event loop; false if that has ended, with the broker. */
    private static boolean execute(RoutingLoop loop, Runnable task) {
        try {
            loop.executor().execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private void route(RoutingLoop loop, List<InboundMessage> messages) {
        if (paced.get(loop.index()).takes(messages)) {
            return;
        }
        for (InboundMessage inbound : messages) {
            route(loop, inbound);
        }
        InboundMessage.releaseAll(messages, true);
    }

    private void routeAlone(RoutingLoop loop, InboundMessage message) {
        route(loop, message);
        message.release(true);
    }

    private void route(RoutingLoop loop, InboundMessage inbound) {
        try {
            router.route(loop, inbound.forwarded().message(), inbound.ticket(), inbound);
        } catch (RuntimeException e) {
            LOG.error("routing a forwarded message failed", e);
            inbound.fail();
        }
    }

    @Override
    public void sentOn(ApplicationMessage message, String homes, Consumer<Boolean> done) {
        RoutingLoop loop = loopOf(message);
        SentOn ticket = new SentOn(message, homes, done);
        boolean taken = execute(loop, () -> {
            router.route(loop, message, ticket, ticket);
            ticket.release(true);
        });
        if (!taken) {
            ticket.release(false);
        }
    }

    @Override
    public void retain(ApplicationMessage message, Runnable refused) {
        RoutingLoop loop = loopOf(message);
        execute(loop, () -> {
            RetainedMessages.Outcome outcome = sessions.retained().keep(loop, message, RouteTicket.NONE);
            if (outcome.isRefusal() || outcome == RetainedMessages.Outcome.OVERTAKEN) {
                refused.run();
            }
        });
    }

    @Override
    public void rewriteRetained(String topic) {
        RoutingLoop loop = router.loops().get(0);
        execute(loop, () -> sessions.retained().changed(loop, TopicName.of(topic)));
    }

    @Override
    public void noteRetained(byte[] note, List<String> topics) {
        RoutingLoop loop = router.loops().get(0);
        execute(
                loop,
                () -> sessions.retained().note(loop, RetainedHorizon.NOTE, note, stored -> {
                    if (stored) {
                        topics.forEach(topic -> sessions.retained().changed(loop, TopicName.of(topic)));
                    }
                }));
    }

    @Override
    public void redispatch(OutboundMessage outbound, SharedFilter group) {
        ApplicationMessage message = outbound.message();
        RouteTicket ticket = outbound.ticket();
        ticket.hold();
        RoutingLoop loop = loopOf(message);
        boolean taken = execute(loop, () -> {
            if (outbound.row() != 0) { // one that another node has refused, or was not sent, no member has
                router.redispatchIfNew(loop, message, group, ticket);
            } else {
                router.redispatch(loop, message, group, ticket);
            }
            ticket.release(true);
        });
        if (!taken) {
            ticket.release(false);
        }
    }

    @Override
    public void handOver(SharedFilter group, String nodeId) {
        sessions.handOver(group, nodeId);
    }

    @Override
    public boolean canTakeMore(SharedFilter group) {
        return sessions.canTakeMore(group);
    }

    @Override
    public boolean holds(SharedFilter group) {
        return sessions.holds(group);
    }

    /** Waits until the sessions on this node have what was routed to them up to now. Any thread. */
    void afterDelivered(Runnable done) {
        // the first pass queues routed messages at the loops of the sessions, the second one comes behind these
        afterRouted(() -> afterRouted(done));
    }

    @Override
    public void afterRouted(Runnable done) {
        AtomicInteger missing = new AtomicInteger(router.loops().size());
        for (RoutingLoop loop : router.loops()) {
            Runnable routed = () -> { // the messages of this iteration are sent first
                if (missing.decrementAndGet() == 0) {
                    done.run();
                }
            };
            execute(loop, () -> execute(loop, routed));
        }
    }
}
