// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.transport.MutualTls;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.dns.DNS_PING;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.DiagnosticsHandler;
import org.jgroups.stack.Protocol;
import org.jspecify.annotations.Nullable;

/**
 * The protocols of the channel for replicas: as those of the cluster's own channel ({@link JGroupsStack}), with the same authentication of both
 * ends of a connection, at an address of its own. Its decoder accepts the headers of consensus in addition, and addresses that carry the name of
 * a node; the cluster's own channel accepts neither.
 */
public final class ReplicaProtocols {

    private static final int BUNDLE_BYTES = 64_000;
    private static final int PIECE_BYTES = 60 << 10;
    private static final long CREDIT_BYTES = 4L << 20;
    private static final double REPLENISH_BELOW = 0.4;

    private ReplicaProtocols() {}

    /**
     * Creates the protocols, the lowest one first.
     *
     * @param config TLS files, the secret, and the address of this node for the cluster's channel
     * @param self {@code host:port} of this node, where other nodes reach it. A name that has no address of this machine yet is replaced by the
     *     host of the cluster's channel, to bind to
     * @param nodes {@code host:port} of all nodes with replicas; names are looked up again at each discovery
     * @param refused called for each refused connection; any thread
     * @return protocols that are not part of a channel; everything above the last one is for the caller
     * @throws io.smqtt.config.ConfigurationException if the TLS files cannot be used
     * @throws java.io.IOException if this node has no address
     */
    public static List<Protocol> create(
            ClusterConfig config, String self, List<String> nodes, Consumer<Refusal> refused) throws Exception {
        ClusterTlsConfig files = config.tls();
        MutualTls tls = files == null ? null : MutualTls.of("cluster.tls", files);
        NodeAddresses addresses = new NodeAddresses(InetAddress::getAllByName);
        InetAddress bind = addresses.own(self, config.bind());
        return JGroupsStack.limited(() -> {
            PlainTcp tcp = transport(config.secret(), tls, new Refusals(refused));
            tcp.setBindAddress(bind).setBindPort(JGroupsStack.port(self));
            return create(tcp, addresses, nodes);
        });
    }

    /**
     * Connects a channel that has these protocols, so that its servers have their log from here, too.
     *
     * @param connecting connects the channel
     * @throws Exception that of the channel
     */
    public static void connect(Callable<@Nullable Void> connecting) throws Exception {
        JGroupsStack.limited(connecting);
    }

    /**
     * Creates a protocol that belongs above those of {@link #create}, with their log. That of the library formats each line before it looks whether its
     * level is on, and an engine of consensus has a line for each message.
     *
     * @param making creates the protocol; called once, by the calling thread
     * @return what it has made
     * @param <P> the protocol
     */
    public static <P extends Protocol> P logged(Supplier<P> making) {
        try {
            return JGroupsStack.limited(making::get);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) { // declared by a callable
            throw new IllegalStateException(e);
        }
    }

    private static List<Protocol> create(PlainTcp transport, NodeAddresses addresses, List<String> nodes) {
        GMS membership = new GMS().setJoinTimeout(1_000).setMergeTimeout(2_000);
        membership.printLocalAddress(false);
        FRAG4 pieces = new FRAG4();
        pieces.setFragSize(PIECE_BYTES);
        DNS_PING discovery = new DNS_PING();
        discovery.asyncDiscovery(true);
        discovery.setDNSQuery(String.join(",", nodes)).setDNSResolver(addresses);
        discovery.dnsRecordType("SRV"); // of records of other types it ignores the port
        UFC one = new UFC();
        one.setMaxCredits(CREDIT_BYTES).setMinThreshold(REPLENISH_BELOW);
        MFC all = new MFC();
        all.setMaxCredits(CREDIT_BYTES).setMinThreshold(REPLENISH_BELOW);
        return List.of(
                transport,
                discovery,
                new MERGE3().setMinInterval(250).setMaxInterval(500).setCheckInterval(1_000),
                new FD_ALL3().setTimeout(JGroupsStack.SILENCE_MILLIS).setInterval(JGroupsStack.HEARTBEAT_MILLIS),
                new VERIFY_SUSPECT2().setTimeout(JGroupsStack.ANSWER_MILLIS),
                new MergeGuard(),
                new NAKACK2().useMcastXmit(false),
                new UNICAST3(),
                new STABLE().setDesiredAverageGossip(50_000).setMaxBytes(CREDIT_BYTES),
                membership,
                one,
                all,
                pieces);
    }

    private static PlainTcp transport(@Nullable String secret, @Nullable MutualTls tls, Refusals refusals)
            throws Exception {
        PlainTcp tcp = new PlainTcp();
        tcp.accept(WireProfile.REPLICAS);
        tcp.guard(
                new NodeSockets(new LinkSecurity(tls, secret == null ? null : new SharedSecret(secret)), refusals),
                refusals);
        tcp.setPortRange(0).setValue("use_vthreads", false);
        tcp.threadNamingPattern("pl");
        tcp.bundler("per-destination");
        tcp.getBundler().setMaxSize(BUNDLE_BYTES);
        tcp.getThreadPool().setMinThreads(2).setMaxThreads(32);
        tcp.setDiagnosticsHandler(new DiagnosticsHandler().setEnabled(false)); // would open a port
        tcp.tcpNodelay(true).setSockConnTimeout(500).setLinger(-1).enableSuspectEvents(true);
        tcp.nonBlockingSends(true).maxSendQueue(1_024);
        return tcp;
    }
}
