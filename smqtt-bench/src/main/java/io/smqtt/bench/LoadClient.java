// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One MQTT client: connects, subscribes, acknowledges, records received messages. Owned by its event loop. */
final class LoadClient extends ChannelInboundHandlerAdapter implements ServerPackets.Sink {

    /** Receives the result of a client's set-up, once, on the client's event loop. */
    interface SetUp {

        /** The client is connected and has all its subscriptions. */
        void ready(LoadClient client);

        /** The client could not be connected. */
        void failed(LoadClient client, String why);
    }

    /** Filters per SUBSCRIBE, so that packets stay small. */
    private static final int FILTERS_PER_SUBSCRIBE = 100;

    private static final int FLUSH_BYTES = 64 * 1024;
    private static final int FIRST_CAPACITY = 512;

    /** The size above which the payload of a received message is not kept until it is complete. */
    private static final int LARGE_BYTES = 64 * 1024;

    private static final int SLOW_READ_BYTES = 2048;
    private static final long SLOW_READ_MILLIS = 100;

    final ClientSpec spec;
    final LoadLoop loop;
    private final Target target;
    private final SetUp setUp;
    private @Nullable Publisher publisher;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf pending;
    private @Nullable ByteBuf rest;
    private long startNanos;
    private long writtenNanos;
    private long readNanos;
    private int subAcksToCome;
    private int skipBytes;
    private int usualBytes = FIRST_CAPACITY;
    private boolean dirty;
    private boolean settled;
    private boolean ready;
    private boolean closing;

    LoadClient(ClientSpec spec, LoadLoop loop, Target target, SetUp setUp) {
        this.spec = spec;
        this.loop = loop;
        this.target = target;
        this.setUp = setUp;
    }

    /** Makes it a publisher; called before it connects. */
    void publishes(Publisher sender) {
        publisher = sender;
    }

    /** Starts the connect time. */
    void connecting() {
        startNanos = System.nanoTime();
    }

    // --- output

    boolean isWritable() {
        ChannelHandlerContext c = context;
        return ready && c != null && c.channel().isWritable();
    }

    /** The buffer to append a packet to; call {@link #written()} afterwards. */
    ByteBuf begin(int bytes) {
        ByteBuf buffer = pending;
        if (buffer == null) {
            ChannelHandlerContext c = context;
            if (c == null) {
                throw new IllegalStateException("not connected");
            }
            buffer = c.alloc().directBuffer(Math.max(usualBytes, bytes));
            pending = buffer;
        }
        return buffer;
    }

    void written() {
        ByteBuf buffer = pending;
        if (buffer != null && buffer.readableBytes() >= FLUSH_BYTES) {
            flush();
        } else if (!dirty) {
            dirty = true;
            loop.markDirty(this);
        }
    }

    void flush() {
        dirty = false;
        ByteBuf buffer = pending;
        ChannelHandlerContext c = context;
        if (buffer == null || c == null) {
            return;
        }
        pending = null;
        usualBytes = Math.max(FIRST_CAPACITY, Math.min(FLUSH_BYTES, buffer.readableBytes()));
        writtenNanos = System.nanoTime();
        c.writeAndFlush(buffer, c.voidPromise());
    }

    void pingIfIdle(long now) {
        // Three quarters of the interval leave time for the packet to arrive [MQTT-3.1.2-20].
        long idleNanos = target.keepAliveSeconds() * 750_000_000L;
        if (ready && idleNanos > 0 && now - writtenNanos > idleNanos) {
            ClientPackets.pingRequest(begin(2));
            written();
        }
    }

    /** Sends DISCONNECT and closes. */
    void disconnect() {
        closing = true;
        ChannelHandlerContext c = context;
        if (c != null) {
            if (ready) {
                ClientPackets.disconnect(begin(2));
                flush();
            }
            c.close();
        }
    }

    // --- the connection

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        if (ctx.channel().isActive() && target.webSocketPath() == null) {
            sendConnect();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (target.webSocketPath() == null) {
            sendConnect();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
            sendConnect();
        }
    }

    private void sendConnect() {
        String user = target.userName();
        String name = user == null ? null : TopicPattern.fill(user, spec.clientId(), "", spec.number());
        ClientPackets.connect(
                begin(128),
                target.version(),
                spec.clientId(),
                target.cleanStart(),
                target.keepAliveSeconds(),
                target.sessionExpirySeconds(),
                target.topicAliases(),
                name,
                target.password());
        flush();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (ready) {
            ready = false;
            loop.figures.connected--;
            if (!closing) {
                loop.figures.connectionsLost++;
            }
        }
        if (rest != null) {
            rest.release();
            rest = null;
        }
        if (pending != null) {
            pending.release();
            pending = null;
        }
        context = null;
        fail("the server closed the connection");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(Failures.text(cause));
        ctx.close();
    }

    /** Only the first outcome counts. */
    void fail(String why) {
        if (!settled) {
            settled = true;
            setUp.failed(this, why);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (publisher != null && ctx.channel().isWritable()) {
            loop.touch(publisher);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        readNanos = System.nanoTime();
        loop.figures.receivedBytes += spec.slow() ? 0 : in.readableBytes();
        if (skipBytes > 0 && !skip(in)) {
            in.release();
            return;
        }
        if (rest != null) {
            rest.writeBytes(in);
            in.release();
            in = rest;
            rest = null;
        }
        int wanted = ServerPackets.parse(in, target.version(), this);
        if (in.isReadable() && context != null) {
            keep(ctx, in, wanted);
        }
        in.release();
    }

    /** Keeps the begun packet; of a large PUBLISH only what comes before the rest of the payload, which is not looked at. */
    private void keep(ChannelHandlerContext ctx, ByteBuf in, int wanted) {
        int head = wanted > LARGE_BYTES ? ServerPackets.bytesToStamp(in, target.version()) : -1;
        if (head > 0) {
            skipBytes = wanted - in.readableBytes();
            rest = ctx.alloc().buffer(head).writeBytes(in, head);
        } else {
            rest = ctx.alloc().buffer(Math.max(Math.min(wanted, LARGE_BYTES), in.readableBytes()));
            rest.writeBytes(in);
        }
    }

    /** Skips payload; with its last byte the message has arrived, and the result is true. */
    private boolean skip(ByteBuf in) {
        int bytes = Math.min(skipBytes, in.readableBytes());
        in.skipBytes(bytes);
        skipBytes -= bytes;
        ByteBuf head = rest;
        if (skipBytes > 0 || head == null) {
            return false;
        }
        rest = null;
        ServerPackets.publishHead(head, target.version(), this);
        head.release();
        return true;
    }

    // --- packets of the server

    @Override
    public void connAck(boolean present, int reasonCode, int receiveMaximum, int topicAliasMaximum) {
        if (reasonCode != 0) {
            fail("the server refused the connection: " + Failures.connectReason(target.version(), reasonCode));
            return;
        }
        loop.figures.connect.recordValue(readNanos - startNanos);
        if (publisher != null) {
            publisher.limits(receiveMaximum, topicAliasMaximum);
        }
        List<String> filters = spec.filters();
        if (filters.isEmpty() || present) {
            settle();
            return;
        }
        for (int i = 0; i < filters.size(); i += FILTERS_PER_SUBSCRIBE) {
            List<String> some = filters.subList(i, Math.min(filters.size(), i + FILTERS_PER_SUBSCRIBE));
            ClientPackets.subscribe(begin(512), target.version(), ++subAcksToCome, some, spec.subscribeQos());
        }
        written();
    }

    @Override
    public void subAck(int packetIdentifier, int worstReasonCode) {
        if (worstReasonCode >= 0x80) {
            fail("the server refused a subscription of " + spec.clientId() + " (0x"
                    + Integer.toHexString(worstReasonCode) + ")");
        } else if (--subAcksToCome == 0) {
            settle();
        }
    }

    private void settle() {
        if (!settled) {
            settled = true;
            ready = true;
            loop.figures.connected++;
            setUp.ready(this);
            if (spec.slow() && context != null) {
                readSlowly(context.channel());
            }
        }
    }

    /** From now on reads a little at an interval. */
    private void readSlowly(Channel channel) {
        channel.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(SLOW_READ_BYTES));
        channel.config().setAutoRead(false);
        ScheduledFuture<?> reading = loop.executor.scheduleAtFixedRate(
                channel::read, SLOW_READ_MILLIS, SLOW_READ_MILLIS, TimeUnit.MILLISECONDS);
        channel.closeFuture().addListener(closed -> reading.cancel(false));
    }

    @Override
    public void publish(ByteBuf in, int payloadAt, int payloadBytes, int qos, int packetIdentifier) {
        if (qos > 0) {
            ClientPackets.acknowledgement(
                    begin(4), qos == 1 ? ClientPackets.PUBACK : ClientPackets.PUBREC, packetIdentifier);
            written();
        }
        if (spec.slow()) {
            return;
        }
        LoadFigures figures = loop.figures;
        FlowTable flows = spec.flows();
        if (flows == null || !Stamp.isAt(in, payloadAt, payloadBytes)) {
            figures.foreign++;
            return;
        }
        int number = Stamp.publisher(in, payloadAt);
        boolean fresh = flows.receive(number, Stamp.sequence(in, payloadAt));
        loop.delivered(number, fresh, Stamp.sentNanos(in, payloadAt), readNanos);
    }

    @Override
    public void acknowledgement(int type, int packetIdentifier, int reasonCode) {
        if (type == 6) {
            ClientPackets.acknowledgement(begin(4), ClientPackets.PUBCOMP, packetIdentifier);
            written();
        } else if (publisher != null) {
            publisher.acknowledged(type, packetIdentifier, reasonCode);
        } else {
            loop.figures.badAcknowledgements++;
        }
    }

    @Override
    public void disconnect(int reasonCode) {
        fail("the server disconnected with reason 0x" + Integer.toHexString(reasonCode));
    }

    @Override
    public void malformed(String why) {
        loop.figures.badAcknowledgements++;
        fail("the server sent " + why);
        if (context != null) {
            context.close();
        }
    }
}
