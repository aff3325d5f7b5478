// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.smqtt.codec.AuthPacket;
import io.smqtt.codec.ConnAck;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.PacketEncoder;
import io.smqtt.codec.PublishEncoder;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.trace.TraceEvent.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Encodes the packets to one client, within the limits of its CONNECT. */
@OnEventLoop
final class PacketOutput {

    /** Size from which a payload is not copied for each subscriber. */
    private static final int LARGE_PAYLOAD_BYTES = 16 * 1024;

    /** A slice of a smaller part of its network buffer does not wait for a slow socket. */
    private static final int SMALL_PART = 4;

    private static final int NO_LIMIT = PacketEncoder.MAXIMUM_PACKET_BYTES;

    private final Connection connection;
    private final ConnectionLoop loop;
    private final OutboundBuffer outbound;
    private final Disconnector disconnector;
    private long maximumPacketBytes = NO_LIMIT;
    private boolean problemInformation = true;
    private @Nullable OutboundAliases aliases;

    /**
     * Creates an output without limits, for the answer to a CONNECT that cannot be read.
     *
     * @param connection the connection
     * @param loop provides the encoder
     * @param outbound the buffer of the connection
     * @param disconnector provides the clock
     */
    PacketOutput(Connection connection, ConnectionLoop loop, OutboundBuffer outbound, Disconnector disconnector) {
        this.connection = connection;
        this.loop = loop;
        this.outbound = outbound;
        this.disconnector = disconnector;
    }

    /** Applies the limits of the client. */
    void limits(ConnectPacket packet) {
        maximumPacketBytes = Math.min(NO_LIMIT, packet.maximumPacketSize());
        problemInformation = packet.requestProblemInformation();
    }

    /** Enables topic aliases; null if the client accepts none. */
    void aliases(@Nullable OutboundAliases towardsClient) {
        aliases = towardsClient;
    }

    /**
     * Writes a PUBLISH.
     *
     * @return false if the packet exceeds the maximum packet size of the client
     */
    boolean publish(
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            boolean retain,
            int packetId,
            boolean duplicate) {
        ProtocolVersion wire = connection.knownVersion();
        long expiry = ApplicationMessage.NEVER;
        int[] identifiers = PublishEncoder.NO_IDENTIFIERS;
        int alias = 0;
        if (wire.isV5()) {
            expiry = disconnector.remainingExpiry(message);
            identifiers = subscription.identifiers();
            boolean aliasFits = true;
            if (maximumPacketBytes < NO_LIMIT) {
                if (PublishEncoder.size(wire, message, qos, identifiers, expiry, 0, true) > maximumPacketBytes) {
                    return false; // [MQTT-3.1.2-24] [MQTT-3.1.2-25]
                }
                aliasFits = PublishEncoder.size(wire, message, qos, identifiers, expiry, 0xFFFF, true)
                        <= maximumPacketBytes;
            }
            alias = aliases == null || !aliasFits ? 0 : aliases.aliasFor(message.topic());
        }
        boolean topicPresent = alias == 0 || aliases == null || aliases.isNew();
        if (isCopied(message.payload())) {
            ByteBuf out = outbound.begin(message.footprintBytes());
            loop.encoder()
                    .encode(
                            out,
                            wire,
                            message,
                            qos,
                            duplicate,
                            retain,
                            packetId,
                            identifiers,
                            expiry,
                            alias,
                            topicPresent);
            outbound.written();
        } else {
            ByteBuf out = outbound.begin();
            loop.encoder()
                    .encodeHeader(
                            out,
                            wire,
                            message,
                            qos,
                            duplicate,
                            retain,
                            packetId,
                            identifiers,
                            expiry,
                            alias,
                            topicPresent);
            ByteBuf inPlace = message.payload().retainedSlice();
            outbound.append(
                    inPlace != null
                            ? inPlace
                            : loop.sharedPayload(message, connection.context().alloc())
                                    .retainedDuplicate());
        }
        if (loop.traces() != null) {
            PacketTrace.publishSent(connection, message, qos, retain, packetId, duplicate);
        }
        return true;
    }

    /** Whether a payload is copied to the output: if it is small, or if its slice would keep much memory until a slow socket takes it. */
    private boolean isCopied(Payload payload) {
        int size = payload.size();
        return payload.isOnHeap()
                ? size < LARGE_PAYLOAD_BYTES
                : size < payload.heldBytes() / SMALL_PART && outbound.isBehind();
    }

    void pubRel(int packetId, ReasonCode reason) {
        trace(Kind.PUBREL_SENT, packetId, reason);
        PacketEncoder.pubRel(outbound.begin(), connection.knownVersion(), packetId, reason, null, maximumPacketBytes);
        outbound.written();
    }

    void pubAck(int packetId, ReasonCode reason, @Nullable String text) {
        trace(Kind.PUBACK_SENT, packetId, reason);
        PacketEncoder.pubAck(
                outbound.begin(),
                connection.knownVersion(),
                packetId,
                reason,
                textOf(reason, text),
                maximumPacketBytes);
        outbound.written();
    }

    void pubRec(int packetId, ReasonCode reason, @Nullable String text) {
        trace(Kind.PUBREC_SENT, packetId, reason);
        PacketEncoder.pubRec(
                outbound.begin(),
                connection.knownVersion(),
                packetId,
                reason,
                textOf(reason, text),
                maximumPacketBytes);
        outbound.written();
    }

    void pubComp(int packetId, ReasonCode reason) {
        trace(Kind.PUBCOMP_SENT, packetId, reason);
        PacketEncoder.pubComp(outbound.begin(), connection.knownVersion(), packetId, reason, null, maximumPacketBytes);
        outbound.written();
    }

    void subAck(int packetId, List<ReasonCode> reasons, @Nullable String text) {
        PacketTrace.answers(connection, Kind.SUBACK_SENT, packetId, reasons);
        written(PacketEncoder.subAck(
                outbound.begin(), connection.knownVersion(), packetId, reasons, problem(text), maximumPacketBytes));
    }

    /** Ends the connection if a mandatory answer cannot be sent [MQTT-3.1.2-24]. */
    private void written(boolean fits) {
        outbound.written();
        if (!fits) {
            connection.disconnect(ReasonCode.PACKET_TOO_LARGE);
        }
    }

    void unsubAck(int packetId, List<ReasonCode> reasons, @Nullable String text) {
        PacketTrace.answers(connection, Kind.UNSUBACK_SENT, packetId, reasons);
        written(PacketEncoder.unsubAck(
                outbound.begin(), connection.knownVersion(), packetId, reasons, problem(text), maximumPacketBytes));
    }

    void pingResp() {
        PacketTrace.plain(connection, Kind.PINGRESP_SENT);
        PacketEncoder.pingResp(outbound.begin());
        outbound.written();
    }

    boolean connAck(ConnAck packet) {
        PacketTrace.connAck(connection, packet);
        boolean fits = PacketEncoder.connAck(outbound.begin(), connection.knownVersion(), packet, maximumPacketBytes);
        outbound.written();
        return fits;
    }

    void auth(AuthPacket packet) {
        PacketTrace.auth(connection, Kind.AUTH_SENT, packet);
        written(PacketEncoder.auth(outbound.begin(), packet, null, maximumPacketBytes));
    }

    void disconnectPacket(ReasonCode reason, @Nullable String text, @Nullable String serverReference) {
        PacketTrace.disconnectSent(connection, reason, text);
        PacketEncoder.disconnect(
                outbound.begin(), connection.knownVersion(), reason, text, serverReference, maximumPacketBytes);
        outbound.written();
    }

    private void trace(Kind kind, int packetId, ReasonCode reason) {
        if (loop.traces() != null) {
            PacketTrace.acknowledgement(connection, kind, packetId, reason);
        }
    }

    /** The reason string, if the client accepts reason strings [MQTT-3.1.2-29]. */
    private @Nullable String problem(@Nullable String text) {
        return problemInformation ? text : null;
    }

    /** The given text, or the default text of an error code. */
    private @Nullable String textOf(ReasonCode reason, @Nullable String given) {
        return connection.isV5() && reason.isError() ? problem(given == null ? ReasonTexts.of(reason) : given) : null;
    }
}
