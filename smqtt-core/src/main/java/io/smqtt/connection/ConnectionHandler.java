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
import io.smqtt.message.ReasonCode;
import io.smqtt.thread.OnEventLoop;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only MQTT handler in a channel's pipeline: reads by demand, decodes, and passes each packet to its flow. One read, one batch
 * of packets, one write: nothing here blocks, and a client that floods gets at most one read per pass of the event loop.
 */
@OnEventLoop
public final class ConnectionHandler extends ChannelInboundHandlerAdapter implements PacketHandler {

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);

    private final ConnectionLoop loop;
    private final ConnectionFlows flows;
    private final ClientLink link;
    private @Nullable Connection connection;
    private @Nullable ByteBuf remainder;
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
        loop.traffic().bytesReceived(bytes.readableBytes());
        ByteBuf begun = remainder;
        if (begun == null) {
            decode(bytes);
            return;
        }
        remainder = null;
        complete(begun, bytes); // so the remaining bytes need no copy
        decode(begun); // also while bytes are missing: a packet that is announced too large must not be buffered
        if (remainder == null && !connection().isClosing()) {
            decode(bytes);
        } else {
            putBehind(bytes);
        }
    }

    /** Completes the first packet of the remainder, as far as its bytes have arrived. */
    private static void complete(ByteBuf begun, ByteBuf more) {
        int missing = PacketDecoder.missingBytes(begun);
        while (missing > 0 && more.isReadable()) {
            begun.writeBytes(more, Math.min(missing, more.readableBytes()));
            missing = PacketDecoder.missingBytes(begun);
        }
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
        } else if (input.isWritable() && input.readableBytes() >= input.capacity() / 2 && input.refCnt() == 1) {
            remainder = input;
        } else { // a few bytes must not retain a large buffer, and a buffer with payloads in use must not move
            remainder = input.alloc().directBuffer(roomFor(input, current)).writeBytes(input);
            input.release();
        }
    }

    /** The capacity for the begin of a packet: for all of it once a quarter has arrived, or a half before the client is connected. */
    private static int roomFor(ByteBuf input, Connection current) {
        if (current.phase() != Connection.Phase.CONNECTED) {
            return 2 * input.readableBytes();
        }
        int packet = PacketDecoder.packetBytes(input);
        int arrived = input.readableBytes();
        return packet > 2 * arrived && packet <= 4L * arrived ? packet : 2 * arrived;
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

    @Override
    public void onConnect(ConnectPacket packet) {
        flows.connect().onConnect(connection(), packet);
    }

    @Override
    public void onPublish(PublishPacket packet) {
        flows.publish().onPublish(connected(), packet);
    }

    @Override
    public void onPubAck(int packetId, ReasonCode reason) {
        flows.publish().onPubAck(connected(), packetId, reason);
    }

    @Override
    public void onPubRec(int packetId, ReasonCode reason) {
        flows.publish().onPubRec(connected(), packetId, reason);
    }

    @Override
    public void onPubRel(int packetId, ReasonCode reason) {
        flows.publish().onPubRel(connected(), packetId);
    }

    @Override
    public void onPubComp(int packetId, ReasonCode reason) {
        flows.publish().onPubComp(connected(), packetId);
    }

    @Override
    public void onSubscribe(SubscribePacket packet) {
        flows.subscribe().onSubscribe(connected(), packet);
    }

    @Override
    public void onUnsubscribe(UnsubscribePacket packet) {
        flows.subscribe().onUnsubscribe(connected(), packet);
    }

    @Override
    public void onPingReq() {
        connected().output().pingResp(); // [MQTT-3.12.4-1]
    }

    @Override
    public void onDisconnect(DisconnectPacket packet) {
        flows.disconnector().disconnectReceived(connection(), packet);
    }

    @Override
    public void onAuth(AuthPacket packet) {
        flows.connect().onAuth(connection(), packet);
    }
}
