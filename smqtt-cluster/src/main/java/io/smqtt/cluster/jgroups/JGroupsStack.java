// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.config.ClusterConfig;
import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.transport.MutualTls;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jgroups.JChannel;
import org.jgroups.logging.CustomLogFactory;
import org.jgroups.logging.LogFactory;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.dns.DNS_PING;
import org.jgroups.stack.ProtocolStack;
import org.jspecify.annotations.Nullable;

/**
 * Creates a channel from the configuration: TCP, reliable ordered messages with flow control. A killed process is detected by its socket,
 * an unresponsive one after 6 to 6.5 s, and partitions are merged within some seconds. {@link LinkSecurity} authenticates both ends of a
 * connection, by certificates or the secret, before anything else is read.
 *
 * <p><b>Failure detection.</b> Each node sends a heartbeat every {@value #HEARTBEAT_MILLIS} ms, and checks as often which nodes have sent
 * one since.
 * A node without a heartbeat in {@value #SILENCE_MILLIS} ms worth of checks is queried, and has {@value #ANSWER_MILLIS} ms to answer.
 *
 * <ul>
 *   <li>Latest detection: {@code SILENCE + HEARTBEAT + ANSWER} = 6.5 s after the last heartbeat, if that came just after a check, so that
 *   one more check passes before the first that counts. The new view takes 0.05 s more, and the delays of a busy machine.
 *   <li>Earliest detection: {@code SILENCE - HEARTBEAT + ANSWER} = 6 s, if the pause began just before the next heartbeat. A shorter pause
 *   of the garbage collector or the machine never counts as a failure, because the node answers when it runs again.
 * </ul>
 *
 * <p>Checks are counted instead of time, so that a node that was paused itself does not consider the others failed. Short intervals bring
 * the two bounds together; each costs a message of some 60 bytes.
 *
 * <p><b>Slow peers.</b> Each peer has its own queues and threads, and no thread that sends to several peers waits for one of them: frames
 * are bundled per peer, and the heartbeats to all are put into the queue of each connection. What is in these queues is limited to the
 * {@code 4M} of unacknowledged bytes that flow control allows for a peer.
 *
 * <p><b>Merging.</b> Each node announces its view every 0.25 to 0.75 s, and checks the views of others each second. When the network is
 * whole again, partitions begin to merge after 2 s, if connections between them can be opened at once. A node that was excluded, because
 * its coordinator did not hear it, learns it from the others in the same time, see {@link MergeGuard}.
 */
final class JGroupsStack {

    static final int HEARTBEAT_MILLIS = 250;
    static final int SILENCE_MILLIS = 5_250;
    static final int ANSWER_MILLIS = 1_000;

    private JGroupsStack() {}

    /**
     * Creates a channel that is not connected.
     *
     * @param lookup finds nodes by name
     * @param tls requires certificates from both ends of a connection, if present
     * @param refused called for each refused connection; any thread
     */
    static JChannel create(
            ClusterConfig config, HostNames.Lookup lookup, @Nullable MutualTls tls, Consumer<Refusal> refused)
            throws Exception {
        return limited(() -> made(config, lookup, tls, refused));
    }

    /** Connects the channel. Creates the server sockets. */
    static void connect(JChannel channel, String cluster) throws Exception {
        limited(() -> channel.connect(cluster));
    }

    /**
     * Protocols and servers get their log at their creation: those created in here use {@link ChannelLog}, and other users of JGroups in
     * this process keep theirs. One at a time.
     */
    static synchronized <T> T limited(Callable<T> making) throws Exception {
        CustomLogFactory before = LogFactory.getCustomLogFactory();
        LogFactory.setCustomLogFactory(new ChannelLog());
        try {
            return making.call();
        } finally {
            LogFactory.setCustomLogFactory(before);
        }
    }

    private static JChannel made(
            ClusterConfig config, HostNames.Lookup lookup, @Nullable MutualTls tls, Consumer<Refusal> refused)
            throws Exception {
        byte[] xml = xml(config).getBytes(StandardCharsets.UTF_8);
        JChannel channel = new JChannel(new ByteArrayInputStream(xml));
        channel.getProtocolStack()
                .insertProtocol(new Liveness(System::nanoTime), ProtocolStack.Position.ABOVE, TCP.class);
        channel.getProtocolStack()
                .insertProtocol(new MergeGuard(), ProtocolStack.Position.ABOVE, VERIFY_SUSPECT2.class);
        DNS_PING names = channel.getProtocolStack().findProtocol(DNS_PING.class);
        if (names != null) {
            names.setDNSResolver(new HostNames(lookup, port(config.bind())));
        }
        String secret = config.secret();
        Refusals refusals = new Refusals(refused);
        PlainTcp transport = channel.getProtocolStack().findProtocol(PlainTcp.class);
        transport.guard(
                new NodeSockets(new LinkSecurity(tls, secret == null ? null : new SharedSecret(secret)), refusals),
                refusals);
        return channel;
    }

    private static String xml(ClusterConfig config) {
        return """
                <config xmlns="urn:org:jgroups">
                  <%s bind_addr="%s" bind_port="%d" port_range="0" tcp_nodelay="true" diag.enabled="false"
                       thread_pool.min_threads="2" thread_pool.max_threads="32" use_vthreads="false"
                       bundler_type="per-destination" bundler.max_size="64000"
                       non_blocking_sends="true" max_send_queue="1024"
                       sock_conn_timeout="500" linger="-1" enable_suspect_events="true" thread_naming_pattern="pl"/>
                  %s
                  <MERGE3 min_interval="250" max_interval="500" check_interval="1000"/>
                  <FD_ALL3 timeout="%d" interval="%d"/>
                  <VERIFY_SUSPECT2 timeout="%d"/>
                  <pbcast.NAKACK2 use_mcast_xmit="false"/>
                  <UNICAST3/>
                  <pbcast.STABLE desired_avg_gossip="50000" max_bytes="4M"/>
                  <pbcast.GMS print_local_addr="false" join_timeout="1000" merge_timeout="2000"/>
                  <UFC max_credits="4M" min_threshold="0.4"/>
                  <MFC max_credits="4M" min_threshold="0.4"/>
                  <FRAG4 frag_size="60K"/>
                </config>
                """.formatted(
                        PlainTcp.class.getName(),
                        host(config.bind()),
                        port(config.bind()),
                        discovery(config),
                        SILENCE_MILLIS,
                        HEARTBEAT_MILLIS,
                        ANSWER_MILLIS);
    }

    private static String discovery(ClusterConfig config) {
        List<String> seeds = config.seeds();
        if (config.discovery() != ClusterConfig.Discovery.STATIC) {
            return "<dns.DNS_PING dns_query=\"" + escape(String.join(",", seeds)) + "\"/>";
        }
        String hosts =
                seeds.stream().map(seed -> host(seed) + '[' + port(seed) + ']').collect(Collectors.joining(","));
        return "<TCPPING initial_hosts=\"" + (hosts.isEmpty() ? host(config.bind()) + "[1]" : hosts)
                + "\" port_range=\"0\" async_discovery=\"true\"/>";
    }

    static String host(String hostAndPort) {
        String host = hostAndPort.substring(0, hostAndPort.lastIndexOf(':'));
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        return escape(bracketed ? host.substring(1, host.length() - 1) : host);
    }

    static int port(String hostAndPort) {
        return Integer.parseInt(hostAndPort.substring(hostAndPort.lastIndexOf(':') + 1));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }
}
