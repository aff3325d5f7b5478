// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.ReloadResult;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.thread.AnyThread;
import io.smqtt.transport.BindFailedException;
import io.smqtt.transport.MutualTls;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Frames over a JGroups channel: membership is its view, and a frame is a message of bytes. */
public final class JGroupsTransport implements ClusterTransport {

    private static final Logger LOG = LoggerFactory.getLogger(JGroupsTransport.class);
    private static final String CLUSTER = "smqtt";

    /** Longer than the channel needs to detect a failed member. */
    private static final long SILENT_MILLIS = 7_000;

    /** The longest wait for a process that accepts connections at the address of a node, and from which nothing is heard. */
    private static final Duration SILENT_MEETING = Duration.ofSeconds(5);

    /** The longest wait for a process that is heard. Longer than a merge takes on a slow machine. */
    private static final Duration MEETING = Duration.ofSeconds(20);

    /**
     * The time after which a process that is not heard any more is gone. The channel closes the connections of processes that are not in a new
     * view, and the next search, twice a second, opens them again.
     */
    private static final Duration HUNG_UP = Duration.ofSeconds(2);

    /** A start that waits for longer is logged. */
    private static final Duration UNNOTICED = Duration.ofMillis(500);

    private static final long POLL_MILLIS = 20;

    private final ClusterConfig config;
    private final String nodeId;
    private final HostNames.Lookup lookup;
    private final Map<Address, PeerSender> senders = new ConcurrentHashMap<>();
    private @Nullable JChannel channel;
    private volatile @Nullable MutualTls tls;
    private volatile @Nullable Liveness liveness;

    /**
     * Creates a transport that is not connected.
     *
     * @param config the cluster's configuration
     * @param nodeId the name of this node in the logs of others
     */
    public JGroupsTransport(ClusterConfig config, String nodeId) {
        this(config, nodeId, InetAddress::getAllByName);
    }

    /** Creates a transport with its own name resolution. */
    JGroupsTransport(ClusterConfig config, String nodeId, HostNames.Lookup lookup) {
        this.config = config;
        this.nodeId = nodeId;
        this.lookup = lookup;
    }

    @Override
    public Mono<Void> start(Handler handler) {
        return Mono.<Void>fromRunnable(() -> connect(handler)).subscribeOn(Schedulers.boundedElastic());
    }

    private synchronized void connect(Handler handler) {
        requireFreePort();
        try {
            ClusterTlsConfig files = config.tls();
            MutualTls own = files == null ? null : MutualTls.of("cluster.tls", files);
            JChannel created = JGroupsStack.create(config, lookup, own, handler::refused);
            tls = own;
            liveness = created.getProtocolStack().findProtocol(Liveness.class);
            channel = created;
            Listener listener = new Listener(created, handler);
            created.setName(nodeId).setDiscardOwnMessages(true).setReceiver(listener);
            JGroupsStack.connect(created, CLUSTER);
            listener.awaitPeers(created);
        } catch (ConfigurationException e) {
            throw e;
        } catch (Exception e) { // declared by the channel
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof BindException) {
                    throw new BindFailedException("cluster", config.bind(), cause);
                }
            }
            throw new IllegalStateException("joining the cluster from " + config.bind() + " failed", e);
        }
    }

    /** Checks the port before, because the channel does not distinguish a used port from other errors. */
    private void requireFreePort() {
        InetSocketAddress address =
                new InetSocketAddress(JGroupsStack.host(config.bind()), JGroupsStack.port(config.bind()));
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(address);
        } catch (IOException e) {
            throw new BindFailedException(
                    "cluster",
                    address.getHostString() + ":" + address.getPort(),
                    new IOException(e.getMessage() + " (cluster.bind)", e));
        }
    }

    @Override
    public boolean send(Peer peer, byte[] frame, boolean bulk) {
        PeerSender sender = peer instanceof Member member ? senders.get(member.address()) : null;
        return sender != null && sender.offer(frame, bulk);
    }

    @Override
    public boolean isSilent(Peer peer) {
        Liveness ears = liveness;
        return ears != null && peer instanceof Member member && ears.silentMillis(member.address()) >= SILENT_MILLIS;
    }

    /**
     * Reloads the certificate, the key and the authority; open connections stay. Blocks.
     *
     * @return the reloaded files, and those that cannot be used and keep their old content
     */
    @AnyThread
    public ReloadResult reload() {
        MutualTls own = tls;
        if (own == null) {
            return ReloadResult.NOTHING;
        }
        try {
            return new ReloadResult(own.reload().stream().map(Path::toString).toList(), List.of());
        } catch (ConfigurationException e) {
            return new ReloadResult(List.of(), e.problems());
        }
    }

    @Override
    public Mono<Void> stop() {
        return Mono.<Void>fromRunnable(this::close).subscribeOn(Schedulers.boundedElastic());
    }

    private synchronized void close() {
        JChannel open = channel;
        channel = null;
        if (open != null) {
            senders.values().forEach(PeerSender::end);
            open.close();
        }
    }

    /** One run of another process. */
    private record Member(Address address) implements Peer {

        @Override
        public String toString() {
            return address.toString();
        }
    }

    /** Called by the channel: views one after the other, messages of one peer one after the other. */
    private final class Listener implements Receiver {

        private final JChannel own;
        private final Handler handler;
        private volatile Set<Address> present = Set.of(); // written under the lock

        Listener(JChannel own, Handler handler) {
            this.own = own;
            this.handler = handler;
        }

        /**
         * Waits for the nodes that are there. The channel looks for others for one second and then continues alone, or with those that it has
         * found, until both sides merge. What this node takes meanwhile would not reach the sessions of a node that it has not met: it does
         * not know them, so it would acknowledge their messages and drop them.
         */
        void awaitPeers(JChannel connected) throws InterruptedException {
            PlainTcp sockets = connected.getProtocolStack().findProtocol(PlainTcp.class);
            long began = System.nanoTime();
            boolean isLogged = false;
            while (true) {
                long now = System.nanoTime();
                Set<Address> strangers = sockets.heard(HUNG_UP);
                strangers.removeAll(present);
                Set<?> missing = strangers.isEmpty() ? sockets.silent() : strangers;
                if (missing.isEmpty()) {
                    return;
                }
                Duration longest = strangers.isEmpty() ? SILENT_MEETING : MEETING;
                long waited = now - began;
                if (waited >= longest.toNanos()) {
                    LOG.warn(
                            "starting without the node at {}: it accepts connections, and has not been met for {} s. What this node takes"
                                    + " before they meet does not reach sessions there",
                            missing,
                            longest.toSeconds());
                    return;
                }
                if (!isLogged && waited >= UNNOTICED.toNanos()) {
                    isLogged = true;
                    LOG.info(
                            "waiting for the node at {}, which accepts connections: no clients and no bridges before, for {} s at most",
                            missing,
                            longest.toSeconds());
                }
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            }
        }

        @Override
        public synchronized void viewAccepted(View view) {
            LOG.debug("view {}", view);
            Set<Address> next = new HashSet<>(view.getMembers());
            next.remove(own.getAddress());
            Liveness ears = liveness;
            if (ears != null) {
                ears.members(next);
            }
            for (Address gone : present) {
                if (!next.contains(gone)) {
                    PeerSender sender = senders.remove(gone);
                    if (sender != null) {
                        sender.end();
                    }
                    handler.down(new Member(gone));
                }
            }
            List<Address> came =
                    next.stream().filter(come -> !present.contains(come)).toList();
            for (Address come : came) {
                PeerSender sender = new PeerSender(own, come);
                senders.put(come, sender);
                sender.start();
            }
            came.forEach(come -> handler.up(new Member(come))); // all of them before one of them is heard
            present = next;
        }

        @Override
        public void receive(Message message) {
            byte[] bytes = message.hasArray() ? message.getArray() : null;
            if (bytes == null) {
                return; // not a frame of a node
            }
            int from = message.getOffset();
            int length = message.getLength();
            // usually the array has this frame only
            byte[] frame = length == bytes.length ? bytes : Arrays.copyOfRange(bytes, from, from + length);
            handler.received(new Member(message.getSrc()), frame);
        }
    }
}
