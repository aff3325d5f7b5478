// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.codec.AuthPacket;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.DisconnectPacket;
import io.smqtt.codec.PacketDecoder;
import io.smqtt.codec.PacketHandler;
import io.smqtt.codec.ProtocolViolation;
import io.smqtt.codec.PublishPacket;
import io.smqtt.codec.SubscribePacket;
import io.smqtt.codec.UnsubscribePacket;
import io.smqtt.message.PayloadReader;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.Session;
import io.smqtt.session.TracedAcknowledgement;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.trace.TraceEvent.Kind;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only MQTT handler in a channel's pipeline: reads by demand, decodes, and passes each packet to its flow. One read, one batch
 * of packets, one write: nothing here blocks, and a client that floods gets at most one read per pass of the event loop.
 */
@OnEventLoop
public final class ConnectionHandler extends ChannelInboundHandlerAdapter implements PacketHandler, ReadPlan {

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);

    private final ConnectionLoop loop;
    private final ConnectionFlows flows;
    private final ClientLink link;
    private @Nullable Connection connection;
    private @Nullable ByteBuf remainder;
    private int begunBytes;
    private int largestRead = PayloadReader.USUAL_READ_BYTES;
    private boolean gone;

    /**
     * Creates the handler of one connection.
     *
     * @param loop state shared by the connections of the channel's event loop
     * @param flows the packet handling
     * @param link the connection as the transport sees it
     */
    public ConnectionHandler(ConnectionLoop loop, ConnectionFlows flows, ClientLink link) {
        this.loop = loop;
        this.flows = flows;
        this.link = link;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        Connection created = new Connection(context, loop, link, flows.disconnector(), this::resume);
        connection = created;
        link.onConnectTimeout(() -> flows.disconnector().connectTimedOut(created));
        link.plan(this);
        if (context.channel().isActive()) {
            context.read();
        }
    }

    private Connection connection() {
        Connection current = connection;
        if (current == null) {
            throw new IllegalStateException("the handler is not in a pipeline");
        }
        return current;
    }

    /** The connection after CONNACK; before that only AUTH is allowed. */
    private Connection connected() {
        Connection current = connection();
        if (current.phase() != Connection.Phase.CONNECTED) { // [MQTT-3.1.4-6]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "a packet before the CONNACK");
        }
        return current;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.read();
    }

    /** Refuses the CONNECT of a client that no node serves. */
    void refuse(ConnectPacket packet, ReasonCode reason, String text) {
        connection().connecting(packet, link.config().maxPacketBytes());
        flows.disconnector().refuse(connection(), reason, text);
    }

    /** The CONNECT did not come in time. */
    void timeOut() {
        flows.disconnector().connectTimedOut(connection());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!(message instanceof ByteBuf bytes)) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (connection().isClosing()) { // [MQTT-3.14.4-1]: later packets are not processed
            bytes.release();
            return;
        }
        ByteBuf begun = remainder;
        if (begun == null) {
            received(bytes.readableBytes());
            decode(bytes);
        } else if (begun == bytes) {
            bytes.release(); // the reference of the read
            received(begun.readableBytes() - begunBytes);
            remainder = null;
            decode(begun);
        } else {
            received(bytes.readableBytes());
            remainder = null;
            decodeBehind(begun, bytes);
        }
    }

    private void received(int bytes) {
        loop.traffic().bytesReceived(bytes);
        connection().received(bytes);
    }

    /** Decodes the begun packet, and then the rest. Takes over both buffers. */
    private void decodeBehind(ByteBuf begun, ByteBuf more) {
        ByteBuf first = begun;
        int missing = PacketDecoder.missingBytes(first);
        while (missing > 0 && more.isReadable()) { // only the bytes of this packet: the others need no copy
            int count = Math.min(missing, more.readableBytes());
            first = withRoom(first, count);
            first.writeBytes(more, count);
            missing = PacketDecoder.missingBytes(first);
        }
        decode(first); // also while bytes are missing: a packet that is announced too large must not be buffered
        if (remainder == null && !connection().isClosing()) {
            decode(more);
        } else {
            putBehind(more);
        }
    }

    /** A buffer with these bytes and room for more. Takes over the buffer. */
    private ByteBuf withRoom(ByteBuf bytes, int more) {
        return bytes.writableBytes() >= more ? bytes : moved(bytes, bytes.readableBytes() + more);
    }

    /** Copies the begin of a packet, of which so many bytes have arrived, to a buffer of its own. Takes over the buffer. */
    private ByteBuf moved(ByteBuf begin, int arrived) {
        ByteBuf moved = PayloadReader.buffer(begin.alloc(), roomFor(PacketDecoder.packetBytes(begin), arrived))
                .writeBytes(begin);
        begin.release();
        return moved;
    }

    /** The capacity for the begin of a packet: for all of it once a quarter has arrived, or a half before the client is connected. */
    private int roomFor(int packet, int arrived) {
        if (packet <= arrived) { // unknown, or several packets that wait
            return packet == 0 ? 2 * arrived : arrived;
        }
        int arrivedParts = connection().phase() == Connection.Phase.CONNECTED ? 4 : 2;
        return packet <= (long) arrivedParts * arrived ? packet : 2 * arrived;
    }

    /** Appends bytes to the remainder. Takes over the buffer. */
    private void putBehind(ByteBuf bytes) {
        ByteBuf waiting = remainder;
        if (waiting != null) {
            waiting.writeBytes(bytes);
        }
        bytes.release();
    }

    /** Decodes the input as long as packets may be decoded, and keeps the rest. Takes over the buffer. */
    private void decode(ByteBuf input) {
        Connection current = connection();
        int complete = 0;
        int start = input.readerIndex();
        try {
            while (current.mayDecode()
                    && input.isReadable()
                    && loop.decoder().decode(input, current.version(), current.maximumPacketBytes(), this)) {
                complete++;
            }
        } catch (ProtocolViolation violation) {
            boolean begins = current.phase() == Connection.Phase.AWAITING_CONNECT;
            String protocol = begins ? ForeignProtocol.of(input, start) : null;
            flows.disconnector().violation(current, violation, ForeignProtocol.MQTT.equals(protocol) ? null : protocol);
        } catch (RuntimeException e) { // a defect must not affect other connections
            LOG.error("a packet of {} could not be handled", current.name(), e);
            flows.disconnector().disconnect(current, ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR, null);
        } finally {
            keep(input, current);
        }
        if (complete > 0) { // keep alive counts complete packets [MQTT-3.1.2-22]
            loop.traffic().packetsReceived(complete);
            current.touch();
        }
    }

    private void keep(ByteBuf input, Connection current) {
        if (current.isClosing() || !input.isReadable()) {
            input.release();
            return;
        }
        ByteBuf kept = isOwn(input) ? input : moved(input, input.readableBytes());
        remainder = kept;
        begunBytes = kept.readableBytes();
    }

    /**
     * Whether the rest of a packet can be read into its buffer, or more of it as long as no buffer for all of it is due: a few bytes must not
     * retain a large buffer, one with payloads in use must not be moved when it is full, and a slice cannot grow.
     */
    private boolean isOwn(ByteBuf input) {
        int arrived = input.readableBytes();
        if (input.refCnt() > 1 || input.maxWritableBytes() == 0 || arrived < input.capacity() / 4) {
            return false;
        }
        int packet = PacketDecoder.packetBytes(input);
        boolean fits = packet > 0 && packet <= input.capacity() - input.readerIndex();
        return fits || (input.isWritable() && roomFor(packet, arrived) != packet);
    }

    @Override
    public int largestRead() {
        return largestRead;
    }

    @Override
    public @Nullable ByteBuf begun() {
        ByteBuf begun = remainder;
        Connection current = connection();
        boolean appendable = begun != null
                && begun.writableBytes() >= PayloadReader.IN_PLACE_BYTES // fewer are copied out of a larger read
                && current.phase() == Connection.Phase.CONNECTED
                && current.mayDecode();
        return appendable ? begun : null;
    }

    /** Resumes decoding of the remainder, after an answer was awaited. */
    private void resume() {
        ByteBuf waiting = remainder;
        if (waiting != null) {
            remainder = null;
            decode(waiting);
        }
        if (gone) {
            end();
        } else {
            readNext();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        readNext();
    }

    private void readNext() {
        connection().readNext();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        connection().writabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        gone = true;
        end();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        gone = true;
        end();
    }

    /** Ends the connection, after decoding what the client sent before: a DISCONNECT decides about the will. */
    private void end() {
        if (!connection().isHalted()) {
            flows.disconnector().channelClosed(connection());
            releaseRemainder();
        }
    }

    private void releaseRemainder() {
        if (remainder != null) {
            remainder.release();
            remainder = null;
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) { // the peer has closed the connection
            LOG.debug("connection of {} failed: {}", connection().name(), cause.toString());
        } else {
            Connection failed = connection();
            flows.disconnector().log().failed(failed.link(), failed.clientOrNull(), cause);
        }
        context.close();
    }

    private void trace(Kind kind, int packetId, ReasonCode reason) {
        Connection current = connection();
        if (current.traces() != null) {
            PacketTrace.acknowledgement(current, kind, packetId, reason);
        }
    }

    /** Reports a PUBACK or PUBREC, and the message that it acknowledges, before the session forgets it. */
    private void traceAcknowledged(Kind kind, QoS qos, int packetId, ReasonCode reason) {
        Connection current = connection();
        if (current.traces() != null) {
            PacketTrace.acknowledgement(current, kind, packetId, reason);
            Session session = current.sessionOrNull();
            if (session != null && !reason.isError()) {
                TracedAcknowledgement.report(session, packetId, qos);
            }
        }
    }

    @Override
    public void onConnect(ConnectPacket packet) {
        PacketTrace.connect(connection(), packet);
        flows.connect().onConnect(connection(), packet);
    }

    @Override
    public void onPublish(PublishPacket packet) {
        largestRead = packet.largestRead();
        flows.publish().onPublish(connected(), packet);
    }

    @Override
    public void onPubAck(int packetId, ReasonCode reason) {
        traceAcknowledged(Kind.PUBACK_RECEIVED, QoS.AT_LEAST_ONCE, packetId, reason);
        flows.publish().onPubAck(connected(), packetId, reason);
    }

    @Override
    public void onPubRec(int packetId, ReasonCode reason) {
        traceAcknowledged(Kind.PUBREC_RECEIVED, QoS.EXACTLY_ONCE, packetId, reason);
        flows.publish().onPubRec(connected(), packetId, reason);
    }

    @Override
    public void onPubRel(int packetId, ReasonCode reason) {
        trace(Kind.PUBREL_RECEIVED, packetId, reason);
        flows.publish().onPubRel(connected(), packetId);
    }

    @Override
    public void onPubComp(int packetId, ReasonCode reason) {
        trace(Kind.PUBCOMP_RECEIVED, packetId, reason);
        flows.publish().onPubComp(connected(), packetId);
    }

    @Override
    public void onSubscribe(SubscribePacket packet) {
        PacketTrace.subscribe(connection(), packet);
        flows.subscribe().onSubscribe(connected(), packet);
    }

    @Override
    public void onUnsubscribe(UnsubscribePacket packet) {
        PacketTrace.unsubscribe(connection(), packet);
        flows.subscribe().onUnsubscribe(connected(), packet);
    }

    @Override
    public void onPingReq() {
        PacketTrace.plain(connection(), Kind.PINGREQ_RECEIVED);
        connected().output().pingResp(); // [MQTT-3.12.4-1]
    }

    @Override
    public void onDisconnect(DisconnectPacket packet) {
        PacketTrace.disconnectReceived(connection(), packet);
        flows.disconnector().disconnectReceived(connection(), packet);
    }

    @Override
    public void onAuth(AuthPacket packet) {
        PacketTrace.auth(connection(), Kind.AUTH_RECEIVED, packet);
        flows.connect().onAuth(connection(), packet);
    }
}
