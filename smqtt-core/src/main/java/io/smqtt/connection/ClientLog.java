// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.ConnectPacket;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.LogText;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClientNetwork;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs events of clients, one line at level INFO for each: connected, disconnected, refused, denied. Lines are rate-limited per
 * address (IPv6: per /64 network). Text that clients choose is escaped and shortened.
 */
@AnyThread
public final class ClientLog {

    private static final Logger LOG = LoggerFactory.getLogger(ClientLog.class);
    private static final int REFUSALS_PER_ADDRESS = 20;
    private static final int REFUSALS_IN_ALL = 1_000;
    private static final int CONNECTIONS_PER_ADDRESS = 500;
    private static final int CONNECTIONS_IN_ALL = 5_000;

    private final boolean connections;
    private final LogLimiter refusalLines = new LogLimiter(LOG, Level.INFO, REFUSALS_PER_ADDRESS, REFUSALS_IN_ALL);
    private final LogLimiter connectionLines =
            new LogLimiter(LOG, Level.INFO, CONNECTIONS_PER_ADDRESS, CONNECTIONS_IN_ALL);

    /**
     * Creates the log of one broker.
     *
     * @param connections whether connects and disconnects are logged
     */
    public ClientLog(boolean connections) {
        this.connections = connections;
    }

    /**
     * Logs that a connection was refused before its CONNECT.
     *
     * @param listener the listener's name
     * @param from the address of the client
     * @param reason a word of {@link io.smqtt.spi.ConnectionRefusals}
     * @param detail more detail, which may contain text of the client; null for none
     */
    public void connectionRefused(String listener, InetSocketAddress from, String reason, @Nullable String detail) {
        if (LOG.isInfoEnabled() && refusalLines.allows(key(from))) {
            String more = detail == null ? "" : ", " + LogText.escape(detail);
            LOG.info("connection from {} on {} refused: {}{}", text(from), listener, reason, more);
        }
    }

    /** Logs a refused CONNECT, or a first packet that is no CONNECT. */
    @OnEventLoop
    void refused(ClientLink link, @Nullable ClientIdentity client, String reason) {
        InetSocketAddress from = link.remoteAddress();
        if (LOG.isInfoEnabled() && refusalLines.allows(key(from))) {
            String name = client == null ? "client" : name(client);
            LOG.info("{} from {} on {} refused: {}", name, text(from), link.listener(), LogText.escape(reason));
        }
    }

    /** Logs that a connection was closed by an error below MQTT, such as a broken TLS record. */
    @OnEventLoop
    void failed(ClientLink link, @Nullable ClientIdentity client, Throwable cause) {
        InetSocketAddress from = link.remoteAddress();
        if (LOG.isInfoEnabled() && refusalLines.allows(key(from))) {
            String name = client == null ? "client" : name(client);
            LOG.info("{} from {} closed: {}", name, text(from), LogText.escape(cause.toString()));
        }
    }

    void connected(ClientIdentity client, ConnectPacket packet, boolean sessionPresent) {
        if (connections && LOG.isInfoEnabled() && connectionLines.allows(key(client.remoteAddress()))) {
            LOG.info(
                    "{} connected from {} on {}: {}, {} session, keep alive {} s",
                    name(client),
                    text(client.remoteAddress()),
                    client.listener(),
                    text(client.version()),
                    sessionPresent ? "resumed" : "new",
                    packet.keepAliveSeconds());
        }
    }

    void disconnected(ClientIdentity client, String reason) {
        if (connections && LOG.isInfoEnabled() && connectionLines.allows(key(client.remoteAddress()))) {
            LOG.info("{} disconnected: {}", name(client), LogText.escape(reason));
        }
    }

    void denied(ClientIdentity client, String action, String topic) {
        if (LOG.isInfoEnabled() && refusalLines.allows(key(client.remoteAddress()))) {
            LOG.info(
                    "{} from {}: {} denied: {}",
                    name(client),
                    text(client.remoteAddress()),
                    action,
                    LogText.escape(topic));
        }
    }

    private static String name(ClientIdentity client) {
        String id = LogText.escape(client.clientId());
        String user = client.userName();
        return user == null ? id : id + " (user " + LogText.escape(user) + ')';
    }

    private static Object key(InetSocketAddress from) {
        InetAddress address = from.getAddress();
        return address == null ? "unknown addresses" : ClientNetwork.of(address);
    }

    private static String text(ProtocolVersion version) {
        return switch (version.level()) {
            case 3 -> "MQTT 3.1";
            case 4 -> "MQTT 3.1.1";
            default -> "MQTT 5.0";
        };
    }

    private static String text(InetSocketAddress from) {
        InetAddress address = from.getAddress();
        return (address == null ? from.getHostString() : address.getHostAddress()) + ':' + from.getPort();
    }
}
