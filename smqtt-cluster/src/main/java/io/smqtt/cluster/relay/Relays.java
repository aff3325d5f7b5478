// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.util.NetUtil;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.connection.ConnectionRelay;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.thread.AnyThread;
import io.smqtt.transport.Listeners;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** The relayed connections of one node: those of its own clients on a front node, those that it takes on another one, or none. */
@AnyThread
public final class Relays {

    /** How often a front node looks for a first node at its start, which is for a second. */
    private static final int FIRST_NODE_LOOKS = 50;

    private static final long LOOK_MILLIS = 20;
    private static final Relays NONE = new Relays(null, null, null, null, "");

    private final @Nullable RelayCounts counts;
    private final @Nullable RelaySecurity security;
    private final @Nullable FrontRelay front;
    private final @Nullable RelayDoor door;
    private final String address;

    private Relays(
            @Nullable RelayCounts counts,
            @Nullable RelaySecurity security,
            @Nullable FrontRelay front,
            @Nullable RelayDoor door,
            String address) {
        this.counts = counts;
        this.security = security;
        this.front = front;
        this.door = door;
        this.address = address;
    }

    /**
     * Prepares what the configuration asks for. Reads certificates and looks up the host of {@code cluster.relay.bind}, and so may block.
     *
     * @param config the cluster's part of the configuration
     * @param nodeId the name of this node
     * @return the relayed connections, none before {@link #start}
     * @throws ConfigurationException if a file or the host cannot be used
     */
    public static Relays of(ClusterConfig config, String nodeId) {
        boolean relays = config.role() == ClusterConfig.Role.FRONT;
        String bind = config.relay().bind();
        if (!relays && bind == null) {
            return NONE;
        }
        RelayCounts counts = new RelayCounts(config.relay().maxConnections());
        RelaySecurity security = RelaySecurity.of(config);
        if (relays || bind == null) {
            FrontRelay front = new FrontRelay(nodeId, config.relay().openTimeout(), security, counts);
            return new Relays(counts, security, front, null, "");
        }
        InetSocketAddress address = resolve(bind);
        RelayDoor door = new RelayDoor(address, security, counts);
        return new Relays(counts, security, null, door, NetUtil.toSocketAddressString(address));
    }

    private static InetSocketAddress resolve(String bind) {
        int colon = bind.lastIndexOf(':');
        try {
            return new InetSocketAddress(
                    InetAddress.getByName(bind.substring(0, colon)), Integer.parseInt(bind.substring(colon + 1)));
        } catch (UnknownHostException e) {
            throw new ConfigurationException("cluster.relay.bind: there is no such host: " + bind, e);
        }
    }

    /**
     * The address at which front nodes reach this one.
     *
     * @return address and port, without a name; empty if it takes no clients of others
     */
    public String address() {
        return address;
    }

    /**
     * The relay for clients of this node.
     *
     * @return null unless this is a front node
     */
    public @Nullable ConnectionRelay front() {
        return front;
    }

    /**
     * Starts to relay, or to take relayed clients.
     *
     * @param listeners the connections of this node
     * @param loop runs a check each second; its end ends it
     * @param peers the other nodes
     * @param ready whether this node may get clients
     * @return completes when the port is bound, or a front node knows a node for its clients, for which it waits a second; fails with {@link
     *     io.smqtt.transport.BindFailedException}
     */
    public Mono<Void> start(
            Listeners listeners,
            ScheduledExecutorService loop,
            Supplier<List<ClusterStatus.PeerStatus>> peers,
            BooleanSupplier ready) {
        FrontRelay own = front;
        if (own != null) {
            own.start(listeners::outgoing, peers);
            loop.scheduleWithFixedDelay(own::check, 1, 1, TimeUnit.SECONDS);
            return Mono.create(sink -> {
                loop.execute(() -> await(own, loop, sink, FIRST_NODE_LOOKS));
            });
        }
        RelayDoor opened = door;
        return opened == null ? Mono.empty() : opened.open(listeners, ready);
    }

    /** Completes when the front node knows a node that takes its clients, or after that many looks. */
    private static void await(FrontRelay front, ScheduledExecutorService loop, MonoSink<Void> sink, int looks) {
        if (looks == 0 || front.hasNode()) {
            sink.success();
        } else {
            loop.schedule(() -> await(front, loop, sink, looks - 1), LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Takes no more clients of front nodes; those that are here stay. Can be called more than once. */
    public void close() {
        if (door != null) {
            door.close();
        }
    }

    /**
     * Prepares a stop: no more clients are relayed or taken, and a front node ends its relayed connections.
     *
     * @param loop runs the parts of that
     * @param over the time over which they are spread
     */
    public void drain(ScheduledExecutorService loop, Duration over) {
        close();
        if (front != null) {
            front.drain(loop, over);
        }
    }

    /**
     * Reads the certificates again. Blocks.
     *
     * @throws ConfigurationException if a file cannot be used; then the old ones stay in use
     */
    public void reload() {
        if (security != null) {
            security.reload();
        }
    }

    /**
     * The relayed connections.
     *
     * @return their numbers
     */
    public ClusterStatus.Relay status() {
        return counts == null ? ClusterStatus.Relay.NONE : counts.status();
    }
}
