// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.smqtt.connection.RelayedConnection;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.thread.OnEventLoop;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The search for a node that takes one client: one node after the other, until one has answered that it takes the client. No byte of the
 * client is sent before that, so none is sent to two nodes.
 */
@OnEventLoop
final class RelayAttempt {

    private static final Logger LOG = LoggerFactory.getLogger(RelayAttempt.class);

    /** The time for one node to accept the connection, and for its answer. */
    private static final int CONNECT_MILLIS = 1_000;

    private static final long ANSWER_MILLIS = 2_000;

    private final FrontRelay front;
    private final RelayedConnection client;
    private final byte[] facts;
    private final Iterator<RelayTarget> targets;
    private @Nullable ScheduledFuture<?> deadline;
    private @Nullable Channel dialled;
    private boolean busy;
    private boolean over;

    /**
     * Creates a search.
     *
     * @param front counts, and prepares connections
     * @param client the client
     * @param facts what the node must know of it
     * @param targets the nodes, the first choice first
     */
    RelayAttempt(FrontRelay front, RelayedConnection client, byte[] facts, Iterator<RelayTarget> targets) {
        this.front = front;
        this.client = client;
        this.facts = facts;
        this.targets = targets;
    }

    void begin() {
        front.counts().waits(1);
        client.whenGone(this::end);
        deadline = client.channel()
                .eventLoop()
                .schedule(this::tooLate, front.openTimeout().toMillis(), TimeUnit.MILLISECONDS);
        next();
    }

    private void next() {
        if (over) {
            return;
        }
        if (!targets.hasNext()) {
            end();
            front.counts().refused(busy ? RelayRefusal.BUSY : RelayRefusal.NO_NODE);
            if (busy) {
                client.refuse(ReasonCode.SERVER_BUSY, "the nodes that store sessions take no more clients");
            } else {
                client.refuse(ReasonCode.SERVER_UNAVAILABLE, "no node that stores sessions takes this client");
            }
            return;
        }
        RelayTarget target = targets.next();
        ChannelFuture dialling = front.dial(client.channel().eventLoop())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        front.security().secure(channel.pipeline(), target.address());
                        channel.pipeline().addLast(new Dial(target));
                    }
                })
                .connect(target.address());
        dialled = dialling.channel();
        dialling.addListener(done -> {
            if (!done.isSuccess()) {
                LOG.debug("node {} does not answer at {}", target.nodeId(), target.address(), done.cause());
                next();
            }
        });
    }

    private void tooLate() {
        if (!over) {
            end();
            front.counts().refused(RelayRefusal.TIMEOUT);
            client.refuse(ReasonCode.SERVER_UNAVAILABLE, "no node that stores sessions has answered in time");
        }
    }

    /** Ends the search without a node. */
    private void end() {
        if (settle() && dialled != null) {
            dialled.close();
        }
    }

    private boolean settle() {
        if (over) {
            return false;
        }
        over = true;
        front.counts().waits(-1);
        if (deadline != null) {
            deadline.cancel(false);
        }
        return true;
    }

    private void taken(RelayTarget target, Channel channel) {
        if (front.isDraining()) {
            end();
            client.refuse(ReasonCode.SERVER_UNAVAILABLE, "this front node stops");
        } else if (settle()) {
            front.counts().opened();
            front.connected(target, channel);
            client.connect(channel);
        } else {
            channel.close();
        }
    }

    /** Sends the facts to one node, and reads its answer. */
    private final class Dial extends ChannelInboundHandlerAdapter {

        private final RelayTarget target;
        private @Nullable ScheduledFuture<?> patience;
        private boolean answered;

        private Dial(RelayTarget target) {
            this.target = target;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            patience = context.executor().schedule(() -> context.close(), ANSWER_MILLIS, TimeUnit.MILLISECONDS);
            context.read();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (RelaySecurity.isSecured(event)) {
                context.writeAndFlush(Unpooled.wrappedBuffer(facts));
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (answered || !(message instanceof ByteBuf bytes) || !bytes.isReadable()) {
                ReferenceCountUtil.release(message);
                return;
            }
            RelayAnswer answer = RelayAnswer.of(bytes.readByte());
            busy |= answer == RelayAnswer.BUSY;
            if (answer != RelayAnswer.TAKEN) {
                bytes.release();
                LOG.debug("node {} does not take a client: {}", target.nodeId(), answer);
                context.close();
                return;
            }
            answered = true;
            stopWaiting();
            taken(target, context.channel());
            if (bytes.isReadable()) {
                context.fireChannelRead(bytes);
            } else {
                bytes.release();
            }
            context.pipeline().remove(this);
        }

        private void stopWaiting() {
            if (patience != null) {
                patience.cancel(false);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            if (!answered) {
                context.read();
            }
            context.fireChannelReadComplete();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            stopWaiting();
            if (!answered) {
                next();
            }
            context.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            LOG.debug("node {} failed at {}", target.nodeId(), target.address(), cause);
            context.close();
        }
    }
}
