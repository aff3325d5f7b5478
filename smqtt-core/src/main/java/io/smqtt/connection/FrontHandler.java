// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.ProtocolViolation;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.thread.OnEventLoop;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The MQTT handler of a front node until the CONNECT is complete. A client with a stored session is given to the {@link ConnectionRelay}; for
 * any other one, and for whatever is no CONNECT, a {@link ConnectionHandler} takes its place and gets the same bytes.
 */
@OnEventLoop
public final class FrontHandler extends ChannelInboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(FrontHandler.class);

    private final ConnectionLoop loop;
    private final ConnectionFlows flows;
    private final ClientLink link;
    private final ConnectionRelay relay;
    private final BrokerObserver observer;
    private @Nullable ByteBuf received;
    private @Nullable RelayedConnection relayed;
    private boolean replaced;

    /**
     * Creates the handler of one connection.
     *
     * @param loop state shared by the connections of the channel's event loop
     * @param flows the packet handling for clients that this node serves
     * @param link the connection as the transport sees it
     * @param relay takes the other clients
     * @param observer notified of connections that end
     */
    public FrontHandler(
            ConnectionLoop loop,
            ConnectionFlows flows,
            ClientLink link,
            ConnectionRelay relay,
            BrokerObserver observer) {
        this.loop = loop;
        this.flows = flows;
        this.link = link;
        this.relay = relay;
        this.observer = observer;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        link.onConnectTimeout(() -> serve(context).timeOut());
        if (context.channel().isActive()) {
            context.read();
        }
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
        ByteBuf before = received;
        ByteBuf all =
                before == null ? bytes : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), before, bytes);
        received = all;
        if (relayed == null) {
            decode(context, all);
        }
    }

    private void decode(ChannelHandlerContext context, ByteBuf all) {
        ConnectPacket packet;
        try {
            packet = loop.decoder().peekConnect(all);
        } catch (ProtocolViolation violation) {
            serve(context); // which comes to the same result, and answers it
            return;
        }
        if (packet == null) {
            return;
        }
        if (packet.sessionExpirySeconds() == 0 || flows.connect().refusesConnects()) {
            serve(context);
            return;
        }
        RelayedConnection client =
                new RelayedConnection(context, link, packet, link.connectTimeLeft(), new Outcome(context, packet));
        relayed = client;
        link.connectComplete(); // the node that serves the client has a timeout of its own
        relay.relay(client);
    }

    /** Makes this node serve the client, with all that has been received of it. */
    private ConnectionHandler serve(ChannelHandlerContext context) {
        ConnectionHandler handler = new ConnectionHandler(loop, flows, link);
        replaced = true;
        context.pipeline().replace(this, context.name(), handler);
        ByteBuf bytes = received;
        received = null;
        if (bytes != null) {
            handler.channelRead(context, bytes);
        }
        return handler;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (relayed == null && !replaced) {
            context.read();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        end();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (!replaced) {
            end();
        }
    }

    private void end() {
        if (replaced) {
            return;
        }
        replaced = true;
        release();
        observer.connectionClosed(link.listener(), ReasonCode.UNSPECIFIED_ERROR);
        if (relayed != null) {
            relayed.gone();
        }
    }

    private void release() {
        if (received != null) {
            received.release();
            received = null;
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) { // the peer has closed the connection
            LOG.debug("connection of {} failed: {}", link.remoteAddress(), cause.toString());
        } else {
            flows.disconnector().log().failed(link, null, cause);
        }
        context.close();
    }

    /** The attempt to relay a client with a stored session. */
    private final class Outcome implements RelayedConnection.Outcome {

        private final ChannelHandlerContext context;
        private final ConnectPacket packet;

        private Outcome(ChannelHandlerContext context, ConnectPacket packet) {
            this.context = context;
            this.packet = packet;
        }

        @Override
        public void refused(ReasonCode reason, String text) {
            release(); // what follows the CONNECT is not read
            serve(context).refuse(packet, reason, text);
        }

        @Override
        public ByteBuf connected(RelayEnd end) {
            ByteBuf bytes = received == null ? context.alloc().buffer(0) : received;
            received = null;
            replaced = true;
            context.pipeline().replace(FrontHandler.this, context.name(), end);
            return bytes;
        }

        @Override
        public void closed() {
            observer.connectionClosed(link.listener(), ReasonCode.SUCCESS); // the reason is known to the other node
        }

        @Override
        public long slowMillis() {
            return flows.disconnector().slowConsumerMillis();
        }

        @Override
        public void tooSlow() {
            observer.clientTooSlow(link.listener());
        }
    }
}
