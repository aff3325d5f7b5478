// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.WriteBufferWaterMark;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.message.ReasonCode;
import io.smqtt.thread.OnEventLoop;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A client of a front node with a stored session, which another node is to serve. On the event loop of its connection. */
@OnEventLoop
public final class RelayedConnection {

    /** Bytes that may wait at each of the two ends before the other one is not read any more. */
    private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(32 * 1024, 64 * 1024);

    private final ChannelHandlerContext context;
    private final ClientLink link;
    private final ConnectPacket packet;
    private final Duration timeLeft;
    private final Outcome outcome;
    private boolean decided;
    private @Nullable Runnable whenGone;

    RelayedConnection(
            ChannelHandlerContext context, ClientLink link, ConnectPacket packet, Duration timeLeft, Outcome outcome) {
        this.context = context;
        this.link = link;
        this.packet = packet;
        this.timeLeft = timeLeft;
        this.outcome = outcome;
    }

    /** Receives the decision for the front. */
    interface Outcome {

        /** The client is refused. */
        void refused(ReasonCode reason, String text);

        /** The client is connected; an end takes the place of the handler. Returns what has been received, which the caller releases. */
        ByteBuf connected(RelayEnd end);

        /** The relayed connection has ended. */
        void closed();

        /** The time in milliseconds for which a client may read nothing. */
        long slowMillis();

        /** The client has read nothing for that time. */
        void tooSlow();
    }

    /**
     * The client's connection as the transport sees it.
     *
     * @return the link
     */
    public ClientLink link() {
        return link;
    }

    /**
     * The client's own channel, whose event loop the channel to the other node must have.
     *
     * @return the channel
     */
    public Channel channel() {
        return context.channel();
    }

    /**
     * The client identifier of the CONNECT.
     *
     * @return may be empty: then the node that serves the client assigns one
     */
    public String clientId() {
        return packet.clientId();
    }

    /**
     * The rest of the listener's connect timeout, for what the client has to send after the CONNECT.
     *
     * @return the time when the CONNECT was complete
     */
    public Duration timeLeft() {
        return timeLeft;
    }

    /**
     * Whether the client waits for a node.
     *
     * @return false when it was connected or refused, or has gone
     */
    public boolean isWaiting() {
        return !decided;
    }

    /**
     * Sets the action for a client that goes before it was connected or refused.
     *
     * @param action runs at most once, on the event loop
     */
    public void whenGone(Runnable action) {
        whenGone = action;
    }

    void gone() {
        if (!decided) {
            decided = true;
            if (whenGone != null) {
                whenGone.run();
            }
        }
    }

    /**
     * Refuses the client with a CONNACK, and closes its connection. Without effect if it has gone.
     *
     * @param reason the reason code
     * @param text the reason string
     */
    public void refuse(ReasonCode reason, String text) {
        if (!decided) {
            decided = true;
            outcome.refused(reason, text);
        }
    }

    /**
     * Connects the client: what was received of it is sent to the other node, and all bytes in both directions from the first answer of
     * that node on. Closes the channel if the client has gone, and refuses the client if the channel is closed.
     *
     * @param node a channel to the node that serves the client, active, on the event loop of {@link #channel()}, reading by demand
     */
    public void connect(Channel node) {
        if (decided) {
            node.close();
            return;
        }
        if (!node.isActive()) {
            refuse(ReasonCode.SERVER_UNAVAILABLE, "the node that stores sessions has closed the connection");
            return;
        }
        decided = true;
        Channel client = context.channel();
        client.config().setWriteBufferWaterMark(WAITING);
        node.config().setWriteBufferWaterMark(WAITING);
        boolean plain = !link.tls() && !link.webSocket();
        ByteBuf received = outcome.connected(RelayEnd.ofClient(node, outcome::closed));
        node.pipeline()
                .addLast(RelayEnd.ofNode(client, plain, outcome.slowMillis(), link::connected, outcome::tooSlow));
        node.writeAndFlush(received);
        node.read();
    }
}
