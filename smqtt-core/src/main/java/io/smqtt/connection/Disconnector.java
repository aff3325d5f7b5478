// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.socket.DuplexChannel;
import io.smqtt.codec.ConnAck;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.DisconnectPacket;
import io.smqtt.codec.ProtocolViolation;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.Session;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.ConnectionRefusals;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.trace.TraceEvent.Kind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Ends connections. Every end goes through here: the log line, the reason code, the last packet, the session's side, and the
 * socket.
 */
@OnEventLoop
public final class Disconnector {

    /** Maximum time that a client may keep its socket after the last packet. */
    private static final long LINGER_MILLIS = 1_000;

    private final BrokerObserver observer;
    private final Ticker ticker;
    private final long slowConsumerMillis;
    private final long maximumExpirySeconds;
    private final @Nullable String serverReference;
    private final ClientLog log;

    /**
     * Creates a disconnector.
     *
     * @param observer receives events about ended connections
     * @param ticker the broker's monotonic clock
     * @param slowConsumerTimeout maximum time that a client may read nothing while output waits
     * @param maximumExpiry the longest session expiry interval
     * @param serverReference the Server Reference on shutdown, or empty
     * @param log the log lines about clients
     */
    public Disconnector(
            BrokerObserver observer,
            Ticker ticker,
            Duration slowConsumerTimeout,
            Duration maximumExpiry,
            String serverReference,
            ClientLog log) {
        this.log = log;
        this.observer = observer;
        this.ticker = ticker;
        this.slowConsumerMillis = slowConsumerTimeout.toMillis();
        this.maximumExpirySeconds = maximumExpiry.toSeconds();
        this.serverReference = serverReference.isEmpty() ? null : serverReference;
    }

    ClientLog log() {
        return log;
    }

    long slowConsumerMillis() {
        return slowConsumerMillis;
    }

    long remainingExpiry(ApplicationMessage message) {
        return message.expiryIntervalSeconds() == ApplicationMessage.NEVER
                ? ApplicationMessage.NEVER
                : message.remainingExpirySeconds(ticker.nanoTime());
    }

    /**
     * Ends a connection whose client violated the protocol [MQTT-4.13.1-1].
     *
     * @param foreign the protocol that the first bytes of the connection resemble, if it is not MQTT; else null
     */
    void violation(Connection connection, ProtocolViolation violation, @Nullable String foreign) {
        ProtocolVersion readable = violation.connectVersion();
        if (connection.phase() == Connection.Phase.AWAITING_CONNECT) {
            if (foreign != null) {
                observer.connectionRefused(connection.link().listener(), ConnectionRefusals.WRONG_PROTOCOL);
                logRefused(connection, ConnectionRefusals.WRONG_PROTOCOL + ", " + foreign + " on a port for MQTT");
                finish(connection, violation.reason());
                return;
            }
            if (readable == null || !hasAnswer(readable, violation.reason())) { // [MQTT-3.1.4-1]
                logRefused(connection, describe(violation.reason(), violation.getMessage()));
                finish(connection, violation.reason());
                return;
            }
            connection.version(readable);
            refuse(connection, violation.reason(), violation.getMessage());
        } else {
            disconnect(connection, violation.reason(), violation.getMessage());
        }
    }

    /**
     * Whether the violation can be answered. Before MQTT 5.0 only some reasons have a return code; a malformed CONNECT has none
     * [MQTT311-3.1.4-1].
     */
    private static boolean hasAnswer(ProtocolVersion version, ReasonCode reason) {
        return version.isV5()
                || reason == ReasonCode.UNSUPPORTED_PROTOCOL_VERSION
                || reason == ReasonCode.CLIENT_IDENTIFIER_NOT_VALID;
    }

    /** Refuses a CONNECT. */
    void refuse(Connection connection, ReasonCode reason, @Nullable String text) {
        if (connection.isClosing()) {
            return;
        }
        logRefused(connection, describe(reason, text));
        observer.connectRefused(refusal(connection, reason));
        connection.output().connAck(ConnAck.refused(PermittedReasons.inConnAck(reason), text, null));
        finish(connection, reason);
    }

    private void logRefused(Connection connection, String reason) {
        log.refused(connection.link(), connection.clientOrNull(), reason);
        PacketTrace.ended(connection, Kind.REFUSED, reason);
    }

    private static ConnectRefusal refusal(Connection connection, ReasonCode reason) {
        ClientIdentity client = connection.clientOrNull();
        ConnectPacket packet = connection.connect();
        String clientId = packet == null ? null : packet.clientId();
        String userName = packet == null ? null : packet.userName();
        return new ConnectRefusal(
                connection.link().listener(),
                connection.link().remoteAddress(),
                client == null ? clientId : client.clientId(),
                client == null ? userName : client.userName(),
                reason);
    }

    /** Ends a connection whose client cannot get a CONNACK [MQTT-3.14.0-1]. */
    void abandon(Connection connection, String text) {
        logRefused(connection, text);
        connection.session().connectionEnded(connection, false, DisconnectPacket.UNCHANGED);
        finish(connection, ReasonCode.PACKET_TOO_LARGE);
    }

    void connectTimedOut(Connection connection) {
        if (!connection.isClosing()) {
            observer.connectionRefused(connection.link().listener(), ConnectionRefusals.CONNECT_TIMEOUT);
            logRefused(connection, ConnectionRefusals.CONNECT_TIMEOUT + ", no complete CONNECT in time");
            finish(connection, ReasonCode.MAXIMUM_CONNECT_TIME);
        }
    }

    /** Ends a connection from the broker's side; the will is published unless the session prevents it. */
    void disconnect(Connection connection, ReasonCode reason, @Nullable String text) {
        if (connection.isClosing()) {
            return;
        }
        if (connection.phase() != Connection.Phase.CONNECTED) {
            refuse(connection, reason, text);
            return;
        }
        boolean shuttingDown = reason == ReasonCode.SERVER_SHUTTING_DOWN && serverReference != null;
        connection
                .output()
                .disconnectPacket( // [MQTT-4.13.2-1]
                        shuttingDown ? ReasonCode.USE_ANOTHER_SERVER : PermittedReasons.inDisconnect(reason),
                        text,
                        shuttingDown ? serverReference : null);
        leaveSession(connection, true, DisconnectPacket.UNCHANGED, reason, describe(reason, text));
        finish(connection, reason);
    }

    /** Ends the connection of a client that does not read its output. */
    void tooSlow(Connection connection) {
        if (!connection.isClosing()) {
            observer.clientTooSlow(connection.link().listener());
            disconnect(connection, ReasonCode.QUOTA_EXCEEDED, "the client reads too slowly");
        }
    }

    /** Handles a DISCONNECT of the client. */
    void disconnectReceived(Connection connection, DisconnectPacket packet) {
        if (connection.phase() == Connection.Phase.CONNECTING) { // [MQTT-3.1.2-30]: authentication cancelled
            finish(connection, packet.reason());
            return;
        }
        long expiry = packet.sessionExpirySeconds();
        if (expiry > 0 && connection.asksForNoExpiry()) { // section 3.14.2.2.2
            disconnect(connection, ReasonCode.PROTOCOL_ERROR, "the session expiry interval was 0 in the CONNECT");
            return;
        }
        long granted = expiry < 0 ? expiry : Math.min(expiry, maximumExpirySeconds);
        boolean normal = packet.reason() == ReasonCode.SUCCESS;
        String how = normal ? "by the client" : "by the client, " + ReasonTexts.of(packet.reason());
        leaveSession(connection, !normal, granted, packet.reason(), how); // [MQTT-3.14.4-3]
        end(connection, packet.reason(), true);
    }

    /** Handles the loss of the socket. */
    void channelClosed(Connection connection) {
        if (connection.phase() == Connection.Phase.CLOSED) {
            return;
        }
        if (!connection.isClosing()) {
            leaveSession(connection, true, DisconnectPacket.UNCHANGED, ReasonCode.UNSPECIFIED_ERROR, "connection lost");
            observer.connectionClosed(connection.link().listener(), ReasonCode.UNSPECIFIED_ERROR);
        }
        connection.closed();
    }

    private void leaveSession(
            Connection connection, boolean publishWill, long expirySeconds, ReasonCode reason, String how) {
        Session session = connection.sessionOrNull();
        if (session == null) {
            return;
        }
        session.connectionEnded(connection, publishWill, expirySeconds);
        log.disconnected(connection.client(), how);
        PacketTrace.ended(connection, Kind.DISCONNECTED, how);
        observer.clientDisconnected(connection.client(), reason);
    }

    /**
     * Sends the remaining output and closes. A plain socket is first shut down in one direction, and read until the client closes the
     * other one or a second has passed. Closing at once with unread data would make the kernel discard the last packet.
     */
    private void finish(Connection connection, ReasonCode reason) {
        end(connection, reason, false);
    }

    /**
     * Like {@link #finish}. After a DISCONNECT of the client nothing is unread [MQTT-3.14.4-1], so that the socket is closed as soon as it has taken
     * the output.
     */
    private void end(Connection connection, ReasonCode reason, boolean byClient) {
        observer.connectionClosed(connection.link().listener(), reason);
        connection.phase(Connection.Phase.CLOSING);
        Channel channel = connection.context().channel();
        if (!channel.isActive()) { // only an answer for its client was awaited
            connection.finish();
            return;
        }
        connection.outbound().flush(); // a client that reads again in time still gets the reason
        boolean plain = !connection.link().tls() && !connection.link().webSocket();
        if (byClient && plain && connection.outbound().isWritten()) {
            channel.close();
            return;
        }
        connection.deadlines().linger(LINGER_MILLIS);
        // completes when all output before it has been written; a shutdown would discard the rest
        ChannelFuture sent = connection.context().writeAndFlush(Unpooled.EMPTY_BUFFER);
        if (plain && channel instanceof DuplexChannel duplex) {
            sent.addListener(done -> shutDownOutput(duplex));
            connection.readNext();
        } else {
            sent.addListener(ChannelFutureListener.CLOSE);
        }
    }

    private static void shutDownOutput(DuplexChannel channel) {
        channel.shutdownOutput().addListener(done -> {
            if (!done.isSuccess()) {
                channel.close();
            }
        });
    }

    private static String describe(ReasonCode reason, @Nullable String text) {
        return text == null ? ReasonTexts.of(reason) : ReasonTexts.of(reason) + " (" + text + ')';
    }
}
