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
import java.util.stream.Collectors;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
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
     * @param config TLS files and the secret
     * @param bind {@code host:port} of this node
     * @param nodes {@code host:port} of all nodes with replicas
     * @param refused called for each refused connection; any thread
     * @return protocols that are not part of a channel; everything above the last one is for the caller
     * @throws io.smqtt.config.ConfigurationException if the TLS files cannot be used
     * @throws java.io.IOException if the host cannot be resolved
     */
    public static List<Protocol> create(
            ClusterConfig config, String bind, List<String> nodes, Consumer<Refusal> refused) throws Exception {
        ClusterTlsConfig files = config.tls();
        MutualTls tls = files == null ? null : MutualTls.of("cluster.tls", files);
        return JGroupsStack.limited(() -> create(config.secret(), tls, bind, nodes, new Refusals(refused)));
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

    private static List<Protocol> create(
            @Nullable String secret, @Nullable MutualTls tls, String bind, List<String> nodes, Refusals refusals)
            throws Exception {
        GMS membership = new GMS().setJoinTimeout(1_000).setMergeTimeout(2_000);
        membership.printLocalAddress(false);
        FRAG4 pieces = new FRAG4();
        pieces.setFragSize(PIECE_BYTES);
        TCPPING discovery = new TCPPING();
        discovery.setPortRange(0);
        discovery.asyncDiscovery(true);
        discovery.setValue(
                "initial_hosts_str",
                nodes.stream()
                        .map(node -> JGroupsStack.host(node) + '[' + JGroupsStack.port(node) + ']')
                        .collect(Collectors.joining(",")));
        UFC one = new UFC();
        one.setMaxCredits(CREDIT_BYTES).setMinThreshold(REPLENISH_BELOW);
        MFC all = new MFC();
        all.setMaxCredits(CREDIT_BYTES).setMinThreshold(REPLENISH_BELOW);
        return List.of(
                transport(secret, tls, bind, refusals),
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

    private static PlainTcp transport(@Nullable String secret, @Nullable MutualTls tls, String bind, Refusals refusals)
            throws Exception {
        PlainTcp tcp = new PlainTcp();
        tcp.accept(WireProfile.REPLICAS);
        tcp.guard(
                new NodeSockets(new LinkSecurity(tls, secret == null ? null : new SharedSecret(secret)), refusals),
                refusals);
        tcp.setBindAddress(InetAddress.getByName(JGroupsStack.host(bind)))
                .setBindPort(JGroupsStack.port(bind))
                .setPortRange(0)
                .setValue("use_vthreads", false);
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
