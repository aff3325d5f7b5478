// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.smqtt.connection.ConnectionRelay;
import io.smqtt.connection.RelayedConnection;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.security.cert.CertificateEncodingException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds a node for each client of a front node with a stored session. */
@AnyThread
final class FrontRelay implements ConnectionRelay {

    private static final Logger LOG = LoggerFactory.getLogger(FrontRelay.class);

    private static final long PART_MILLIS = 100;

    private final String nodeId;
    private final Duration openTimeout;
    private final RelaySecurity security;
    private final RelayCounts counts;
    private final Map<RelayTarget, ChannelGroup> connections = new ConcurrentHashMap<>();
    private volatile Function<EventLoop, Bootstrap> dialler = loop -> {
        throw new IllegalStateException("not started");
    };
    private volatile boolean draining;
    private volatile Supplier<List<ClusterStatus.PeerStatus>> peers = List::of;

    /**
     * Creates a relay that finds no node before {@link #start}.
     *
     * @param nodeId the name of this node
     * @param openTimeout the maximum time until a node has taken a client
     * @param security proves to be a node of this cluster
     * @param counts the relayed connections
     */
    FrontRelay(String nodeId, Duration openTimeout, RelaySecurity security, RelayCounts counts) {
        this.nodeId = nodeId;
        this.openTimeout = openTimeout;
        this.security = security;
        this.counts = counts;
    }

    /**
     * Begins to find nodes.
     *
     * @param outgoing prepares a connection on an event loop
     * @param known the other nodes
     */
    void start(Function<EventLoop, Bootstrap> outgoing, Supplier<List<ClusterStatus.PeerStatus>> known) {
        dialler = outgoing;
        peers = known;
    }

    @Override
    @OnEventLoop
    public void relay(RelayedConnection client) {
        if (draining) {
            counts.refused(RelayRefusal.NO_NODE);
            client.refuse(ReasonCode.SERVER_UNAVAILABLE, "this front node stops");
            return;
        }
        if (!counts.enter()) {
            counts.refused(RelayRefusal.BUSY);
            client.refuse(ReasonCode.SERVER_BUSY, "this front node relays as many connections as it may");
            return;
        }
        client.channel().closeFuture().addListener(closed -> counts.left());
        List<RelayTarget> targets = RelayTarget.of(peers.get());
        if (targets.isEmpty()) {
            counts.refused(RelayRefusal.NO_NODE);
            client.refuse(ReasonCode.SERVER_UNAVAILABLE, "no node that stores sessions is reachable");
            return;
        }
        String key = client.clientId().isEmpty() // the node assigns one later
                ? client.link().remoteAddress().toString()
                : client.clientId();
        byte[] facts;
        try {
            facts = RelayFacts.of(nodeId, client).encode();
        } catch (CertificateEncodingException e) {
            LOG.debug("the certificate of {} cannot be passed on", client.link().remoteAddress(), e);
            counts.refused(RelayRefusal.NO_NODE);
            client.refuse(
                    ReasonCode.SERVER_UNAVAILABLE,
                    "the certificate cannot be passed on to the node that stores sessions");
            return;
        }
        new RelayAttempt(this, client, facts, RelayTarget.order(targets, key).iterator()).begin();
    }

    /** Whether this node stops. */
    boolean isDraining() {
        return draining;
    }

    /** Whether a node is known that takes clients. */
    boolean hasNode() {
        return !RelayTarget.of(peers.get()).isEmpty();
    }

    Duration openTimeout() {
        return openTimeout;
    }

    RelayCounts counts() {
        return counts;
    }

    /** Prepares a connection to a node, on the event loop of a client. */
    Bootstrap dial(EventLoop loop) {
        return dialler.apply(loop);
    }

    RelaySecurity security() {
        return security;
    }

    /** A client is connected to a node. */
    void connected(RelayTarget target, Channel channel) {
        connections.compute(target, (run, known) -> {
            ChannelGroup all = known == null ? new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE) : known;
            all.add(channel);
            return all;
        });
    }

    /**
     * Relays no more clients, and ends the connections of those that are relayed, spread over a time.
     *
     * @param loop runs the parts
     * @param over the time
     */
    void drain(ScheduledExecutorService loop, Duration over) {
        draining = true;
        List<Channel> all = new ArrayList<>();
        connections.values().forEach(all::addAll);
        int parts = (int) Math.max(1, over.toMillis() / PART_MILLIS);
        closeParts(loop, all, 0, parts);
    }

    private static void closeParts(ScheduledExecutorService loop, List<Channel> all, int part, int parts) {
        int from = (int) ((long) all.size() * part / parts);
        int to = (int) ((long) all.size() * (part + 1) / parts);
        all.subList(from, to).forEach(Channel::close);
        if (part + 1 < parts) {
            loop.schedule(() -> closeParts(loop, all, part + 1, parts), PART_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Ends the connections to nodes that are unreachable or run anew: such a connection may not notice it by itself. Called once a second. */
    void check() {
        if (connections.isEmpty()) {
            return;
        }
        Set<RelayTarget> reachable = new HashSet<>(RelayTarget.of(peers.get()));
        for (RelayTarget target : connections.keySet()) {
            if (!reachable.contains(target)) {
                connections.computeIfPresent(target, FrontRelay::close);
            }
        }
    }

    /** Returns null when all of them have closed. */
    private static @Nullable ChannelGroup close(RelayTarget target, ChannelGroup channels) {
        if (channels.isEmpty()) {
            return null;
        }
        LOG.info(
                "node {} is unreachable: closes the connections of {} relayed clients",
                target.nodeId(),
                channels.size());
        channels.close();
        return channels;
    }
}
