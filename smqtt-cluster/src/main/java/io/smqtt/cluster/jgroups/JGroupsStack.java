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
import org.jgroups.protocols.dns.DNS_PING;
import org.jgroups.stack.ProtocolStack;
import org.jspecify.annotations.Nullable;

/**
 * Makes a channel as the configuration says: TCP, reliable ordered messages with flow control, a killed process noticed by
 * its socket, a silent one after 6 to 6.5 s, parts that were cut off merged within some seconds. What both ends of a connection
 * must show before anything is read, certificates or the secret, is in {@link LinkSecurity}.
 *
 * <p><b>Silence.</b> Each node sends a heartbeat every {@value #HEARTBEAT_MILLIS} ms, and looks as often at who has sent one since. Who
 * was not heard in {@value #SILENCE_MILLIS} ms worth of looks is asked, and has {@value #ANSWER_MILLIS} ms to answer.
 *
 * <ul>
 *   <li>At the latest a node is gone {@code SILENCE + HEARTBEAT + ANSWER} = 6.5 s after its last word: the last heartbeat came just after a
 *       look, so one more passes before the first that counts. The view that says so takes 0.05 s more, and what the threads of a
 *       busy machine are late by.
 *   <li>At the earliest it is after {@code SILENCE - HEARTBEAT + ANSWER} = 6 s: the pause began just before the next heartbeat. A pause
 *       of a collector or of the machine that is shorter is never taken for an end, for a node that runs again answers.
 * </ul>
 *
 * <p>Looks are counted, and not time: a node that was held up itself does not take the others for gone. Short intervals bring the two bounds
 * together; they cost a message of some 60 bytes each.
 *
 * <p><b>Meeting again.</b> The first of each part says every 0.5 to 1.5 s what it sees, and looks every 2.5 s at what others have said: parts of
 * a network that is whole again begin to merge after 4 s at the latest, where connections between them can be made at once.
 */
final class JGroupsStack {

    private static final int HEARTBEAT_MILLIS = 250;
    private static final int SILENCE_MILLIS = 5_250;
    private static final int ANSWER_MILLIS = 1_000;

    private JGroupsStack() {}

    /**
     * Makes a channel that is not connected.
     *
     * @param lookup finds nodes by name
     * @param tls makes both ends of connections show certificates, if there is one
     * @param refused is told of each connection that is refused; any thread
     */
    static JChannel create(
            ClusterConfig config, HostNames.Lookup lookup, @Nullable MutualTls tls, Consumer<Refusal> refused)
            throws Exception {
        return limited(() -> made(config, lookup, tls, refused));
    }

    /** Joins the others. Servers are made here. */
    static void connect(JChannel channel, String cluster) throws Exception {
        limited(() -> channel.connect(cluster));
    }

    /**
     * Protocols and servers take their log when they are made: what is made in here takes {@link ChannelLog}, and other users
     * of JGroups in this process keep theirs. One at a time.
     */
    private static synchronized <T> T limited(Callable<T> making) throws Exception {
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
                       bundler.max_size="64000"
                       sock_conn_timeout="500" linger="-1" enable_suspect_events="true" thread_naming_pattern="pl"/>
                  %s
                  <MERGE3 min_interval="500" max_interval="1500" check_interval="2500"/>
                  <FD_ALL3 timeout="%d" interval="%d"/>
                  <VERIFY_SUSPECT2 timeout="%d"/>
                  <pbcast.NAKACK2 use_mcast_xmit="false"/>
                  <UNICAST3/>
                  <pbcast.STABLE desired_avg_gossip="50000" max_bytes="4M"/>
                  <pbcast.GMS print_local_addr="false" join_timeout="1000"/>
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
