// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTopic;
import io.smqtt.session.InProcess;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands between the socket of a bridge and our own connection on the same channel. To the other broker it is a client; to our broker it
 * is the client {@code $bridge/<name>} with MQTT 5.0 and a session that does not expire. After both have accepted it, it passes packets on,
 * with other topic names and in the other version. Packet identifiers stay the same, so all state of the message flows is in the two
 * sessions, and an acknowledgement of one broker is that of the other.
 */
@OnEventLoop
final class BridgeHandler extends ChannelDuplexHandler {

    private static final Logger LOG = LoggerFactory.getLogger(BridgeHandler.class);
    private static final int CONNACK = 2;
    private static final int PUBLISH = 3;
    private static final int PUBACK = 4;
    private static final int PUBREC = 5;
    private static final int PUBREL = 6;
    private static final int PUBCOMP = 7;
    private static final int SUBACK = 9;
    private static final int PINGRESP = 13;
    private static final int DISCONNECT = 14;
    private static final int FOREVER = -1;
    private static final int TOPIC_NAME_INVALID = 0x90;

    /** Options of a SUBSCRIBE of MQTT 5.0: No Local, Retain As Published, retained messages for new subscriptions only. */
    private static final int OPTIONS = 4 | 8 | 1 << 4;

    private final Bridge bridge;
    private final BridgeConfig config;
    private final String address;
    private final InetSocketAddress target;
    private final boolean bridgeBit;
    private final boolean reset;
    private final boolean v5;
    private final int maximumPacket;
    private @Nullable ByteBuf incoming;
    private @Nullable ByteBuf outgoing;
    private @Nullable RemoteLimits remote;
    private @Nullable String problem;
    private @Nullable Future<?> timer;
    private boolean up;
    private boolean atOnce;
    private boolean reads;
    private boolean awaitsPing;
    private long askedNanos;

    BridgeHandler(Bridge bridge, String address, InetSocketAddress target, boolean bridgeBit, boolean reset) {
        this.bridge = bridge;
        this.config = bridge.config();
        this.address = address;
        this.target = target;
        this.bridgeBit = bridgeBit;
        this.reset = reset;
        this.v5 = config.isV5();
        this.maximumPacket = bridge.core().config().limits().maxPacketBytes();
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        boolean clean = config.cleanStart() || reset;
        ByteBuf properties = null;
        if (v5) {
            properties = context.alloc().buffer();
            properties.writeByte(0x11).writeInt(config.cleanStart() ? 0 : FOREVER);
            properties.writeByte(0x21).writeShort(receiveMaximum());
            properties
                    .writeByte(0x27)
                    .writeInt(Math.max(1, maximumPacket - bridge.map().growth()));
        }
        askedNanos = System.nanoTime();
        context.writeAndFlush(Packets.connect(
                context.alloc(),
                v5 ? 5 : bridgeBit ? 0x84 : 4,
                clean,
                (int) config.keepAlive().toSeconds(),
                properties,
                bridge.clientId(),
                config.username(),
                bridge.password()));
        timer = context.executor()
                .schedule(
                        () -> close(context, "it does not answer the CONNECT"),
                        config.connectTimeout().toMillis(),
                        TimeUnit.MILLISECONDS);
        context.read();
    }

    /** The messages above QoS 0 that our broker takes at a time. */
    private int receiveMaximum() {
        int ours = Math.min(
                bridge.core().config().limits().receiveMaximum(),
                bridge.core().config().limits().maxAwaitingRelease());
        return Math.min(ours, 65_535);
    }

    // --- from the other broker

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        ByteBuf all = bytes;
        if (incoming != null) {
            all = incoming.writeBytes(bytes);
            bytes.release();
            incoming = null;
        }
        awaitsPing = false; // whatever it sends, it lives
        ByteBuf passed = context.alloc().buffer(all.readableBytes() + 64);
        try {
            int length = next(all);
            while (length > 0 && problem == null) {
                received(context, all.readSlice(length), passed);
                length = next(all);
            }
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            close(context, "it sends something that is not MQTT");
        }
        if (all.isReadable() && problem == null) {
            incoming = context.alloc()
                    .buffer(Math.max(2 * all.readableBytes(), 512))
                    .writeBytes(all);
        }
        all.release();
        if (passed.isReadable() && problem == null) {
            context.fireChannelRead(passed);
        } else {
            passed.release();
        }
    }

    /** The length of the next packet, or -1 if it is not complete. */
    private int next(ByteBuf bytes) {
        int length = Packets.length(bytes);
        if (length > maximumPacket) {
            throw new IllegalArgumentException("a packet is too large");
        }
        return length >= 0 && bytes.readableBytes() >= length ? length : -1;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        reads = false;
        if (remote == null) {
            context.read();
        } else {
            context.fireChannelReadComplete();
        }
    }

    @Override
    public void read(ChannelHandlerContext context) {
        reads = true;
        context.read();
    }

    private void received(ChannelHandlerContext context, ByteBuf packet, ByteBuf passed) {
        int type = packet.getUnsignedByte(packet.readerIndex()) >> 4;
        if (remote == null) {
            if (type != CONNACK) {
                throw new IllegalArgumentException("not a CONNACK");
            }
            bridge.counts().answered(System.nanoTime() - askedNanos);
            body(packet);
            answered(context, RemoteLimits.read(packet, v5));
            return;
        }
        switch (type) {
            case PUBLISH -> arrived(context, packet, passed);
            case PUBACK, PUBREC, PUBREL, PUBCOMP -> acknowledgement(packet, passed, true);
            case SUBACK -> subscribed(packet);
            case PINGRESP -> {
                bridge.counts().answered(System.nanoTime() - askedNanos);
                passed.writeBytes(Packets.PINGREQ);
            }
            case DISCONNECT -> {
                body(packet);
                int reason = packet.isReadable() ? packet.readUnsignedByte() : 0;
                close(
                        context,
                        String.format("it ends the connection with reason 0x%02x", reason)
                                + (reason == 0x8e ? ": another client uses the same client identifier" : ""));
            }
            default -> throw new IllegalArgumentException("not a packet of a server");
        }
    }

    private static void body(ByteBuf packet) {
        packet.skipBytes(1);
        Packets.readVarInt(packet);
    }

    private void answered(ChannelHandlerContext context, RemoteLimits answer) {
        if (answer.reason() != 0) {
            if (bridgeBit && answer.reason() == 1) {
                bridge.withoutBridgeBit(address);
                atOnce = true;
            }
            close(context, answer.refusal());
            return;
        }
        if (reset && !v5 && !config.cleanStart()) { // its session is gone; begin one that it keeps
            atOnce = true;
            context.writeAndFlush(Unpooled.wrappedBuffer(Packets.DISCONNECT));
            close(context, "");
            return;
        }
        remote = answer;
        bridge.core().listeners().serve(context.channel(), new BridgeLink(bridge.name(), target));
        ByteBuf properties = context.alloc().buffer();
        properties.writeByte(0x11).writeInt(FOREVER);
        properties.writeByte(0x21).writeShort(Math.max(1, answer.receiveMaximum()));
        if (answer.maximumPacketSize() > 0) {
            long own = Math.max(64, answer.maximumPacketSize() - bridge.map().growth());
            properties.writeByte(0x27).writeInt((int) own);
        }
        String id = InProcess.BRIDGE_PREFIX + bridge.name();
        context.fireChannelRead(Packets.connect(context.alloc(), 5, false, 0, properties, id, "", null));
    }

    private void arrived(ChannelHandlerContext context, ByteBuf packet, ByteBuf passed) {
        if (Publish.pass(packet, v5, true, bridge.map()::in, true, passed)) {
            bridge.counts().received();
            return;
        }
        int qos = Publish.qos(packet);
        if (qos > 0) { // not one of our topics any more: the other broker need not keep it
            ByteBuf answer = context.alloc().buffer(4);
            answer.writeByte(qos == 1 ? 0x40 : 0x50).writeByte(2).writeShort(Publish.packetId(packet));
            context.writeAndFlush(answer);
        }
    }

    private void acknowledgement(ByteBuf packet, ByteBuf to, boolean withReason) {
        int header = packet.readUnsignedByte();
        Packets.readVarInt(packet);
        int id = packet.readUnsignedShort();
        int reason = packet.isReadable() ? packet.readUnsignedByte() : 0;
        boolean written = withReason && reason != 0;
        to.writeByte(header).writeByte(written ? 3 : 2).writeShort(id);
        if (written) {
            to.writeByte(reason);
        }
    }

    private void subscribed(ByteBuf packet) {
        int reason = packet.getUnsignedByte(packet.writerIndex() - 1);
        body(packet);
        int number = Packets.OWN_ID - packet.readUnsignedShort();
        List<BridgeTopic> topics = bridge.topics();
        if (reason >= 0x80 && number >= 0 && number < topics.size()) {
            LOG.warn(
                    "bridge {}: {} refuses the subscription to {} with reason {}; nothing comes in by it",
                    bridge.name(),
                    address,
                    topics.get(number).remote(),
                    String.format("0x%02x", reason));
        }
    }

    // --- from our broker

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        ByteBuf bytes = (ByteBuf) message;
        ByteBuf all = bytes;
        if (outgoing != null) {
            all = outgoing.writeBytes(bytes);
            bytes.release();
            outgoing = null;
        }
        ByteBuf passed = context.alloc().buffer(all.readableBytes() + 64);
        int length = Packets.length(all);
        while (length > 0 && all.readableBytes() >= length) {
            sent(context, all.readSlice(length), passed);
            length = Packets.length(all);
        }
        if (all.isReadable()) {
            outgoing = context.alloc()
                    .buffer(Math.max(all.readableBytes(), length))
                    .writeBytes(all);
        }
        all.release();
        context.write(passed, promise);
    }

    private void sent(ChannelHandlerContext context, ByteBuf packet, ByteBuf passed) {
        int type = packet.getUnsignedByte(packet.readerIndex()) >> 4;
        switch (type) {
            case CONNACK -> {
                body(packet);
                boolean present = packet.readByte() != 0;
                int reason = packet.readUnsignedByte();
                context.executor().execute(() -> opened(context, present, reason));
            }
            case PUBLISH -> leaving(context, packet, passed);
            case PUBACK, PUBREC, PUBREL, PUBCOMP -> acknowledgement(packet, passed, v5);
            case DISCONNECT -> {
                passed.writeBytes(Packets.DISCONNECT);
                body(packet);
                int reason = packet.isReadable() ? packet.readUnsignedByte() : 0;
                problem = String.format("this broker has ended it with reason 0x%02x", reason);
            }
            default -> {} // SUBACK and PINGRESP: we have asked for them
        }
    }

    private void leaving(ChannelHandlerContext context, ByteBuf packet, ByteBuf passed) {
        RemoteLimits limits = remote;
        boolean retain = limits == null || limits.retainAvailable();
        if (Publish.pass(packet, true, v5, bridge.map()::out, retain, passed)) {
            bridge.counts().sent(packet);
            return;
        }
        int qos = Publish.qos(packet);
        if (qos > 0) { // stored under a former configuration
            ByteBuf answer = context.alloc().buffer(5);
            answer.writeByte(qos == 1 ? 0x40 : 0x50).writeByte(3).writeShort(Publish.packetId(packet));
            answer.writeByte(TOPIC_NAME_INVALID);
            context.executor().execute(() -> inject(context, answer));
        }
    }

    /** Our own session is open. */
    private void opened(ChannelHandlerContext context, boolean present, int reason) {
        RemoteLimits limits = remote;
        if (limits == null || !context.channel().isActive()) {
            return;
        }
        if (reason != 0) {
            close(context, String.format("this broker refuses the session of the bridge with reason 0x%02x", reason));
            return;
        }
        boolean exactlyOnce =
                bridge.topics().stream().anyMatch(topic -> topic.out() && topic.qos() == 2) && limits.maximumQos() == 2;
        if (!present && limits.sessionPresent() && exactlyOnce) { // it may know identifiers that we give again
            bridge.beginAnew();
            atOnce = true;
            close(context, "");
            return;
        }
        ByteBuf own = context.alloc().buffer();
        ByteBuf others = context.alloc().buffer();
        for (int i = 0; i < bridge.topics().size(); i++) {
            BridgeTopic topic = bridge.topics().get(i);
            int id = Packets.OWN_ID - i;
            if (topic.out()) {
                int qos = Math.min(topic.qos(), limits.maximumQos());
                append(
                        own,
                        Packets.subscribe(
                                context.alloc(), true, id, topic.local().value(), qos | OPTIONS));
            }
            if (topic.in()) {
                int options = topic.qos() | (v5 ? OPTIONS : 0);
                append(
                        others,
                        Packets.subscribe(
                                context.alloc(), v5, id, topic.remote().value(), options));
            }
        }
        context.writeAndFlush(others);
        up = true;
        startPings(context, limits);
        bridge.connected(address);
        inject(context, own);
    }

    private static void append(ByteBuf to, ByteBuf packet) {
        to.writeBytes(packet);
        packet.release();
    }

    private static void inject(ChannelHandlerContext context, ByteBuf bytes) {
        if (context.channel().isActive() && bytes.isReadable()) {
            context.fireChannelRead(bytes);
        } else {
            bytes.release();
        }
    }

    private void startPings(ChannelHandlerContext context, RemoteLimits limits) {
        stopTimer();
        long seconds = limits.serverKeepAlive() >= 0
                ? limits.serverKeepAlive()
                : config.keepAlive().toSeconds();
        if (seconds > 0) {
            long millis = seconds * 750;
            timer = context.executor().scheduleAtFixedRate(() -> ping(context), millis, millis, TimeUnit.MILLISECONDS);
        }
    }

    private void ping(ChannelHandlerContext context) {
        if (awaitsPing && reads) { // while our broker does not read, the answer may be waiting
            close(context, "it does not answer PINGREQ");
            return;
        }
        awaitsPing = true;
        askedNanos = System.nanoTime();
        context.writeAndFlush(Unpooled.wrappedBuffer(Packets.PINGREQ));
    }

    // --- the end

    /** Ends the connection in peace, so that the other broker does not take it for lost. */
    @AnyThread
    void end(Channel channel) {
        channel.eventLoop().execute(() -> {
            ChannelHandlerContext context = channel.pipeline().context(this);
            if (context != null && channel.isActive()) {
                context.writeAndFlush(Unpooled.wrappedBuffer(Packets.DISCONNECT));
            }
            channel.close();
        });
    }

    private void close(ChannelHandlerContext context, String why) {
        if (problem == null) {
            problem = why;
        }
        context.close();
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        stopTimer();
        context.fireChannelInactive();
        if (incoming != null) {
            incoming.release();
            incoming = null;
        }
        if (outgoing != null) {
            outgoing.release();
            outgoing = null;
        }
        if (atOnce) {
            bridge.again();
        } else {
            bridge.failed(
                    address,
                    problem != null
                            ? problem
                            : up ? "it has closed the connection" : "it has closed the connection before CONNACK");
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (!(cause instanceof IOException)) {
            LOG.error("bridge {}: a packet could not be handled", bridge.name(), cause);
        }
        close(context, String.valueOf(cause.getMessage()));
    }
}
