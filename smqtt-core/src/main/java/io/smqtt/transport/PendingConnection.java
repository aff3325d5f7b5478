// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.thread.OnEventLoop;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Counts the bytes that arrive on a connection before its client is accepted: PROXY header, handshakes and CONNECT are all buffered until
 * they are complete. The first handler of the pipeline; removed when the client is accepted.
 */
@OnEventLoop
final class PendingConnection extends ChannelInboundHandlerAdapter {

    /** The name of this handler in a pipeline. */
    static final String HANDLER = "smqtt.pending";

    /** The reasons of a close: the configuration keys of the limits. */
    static final String BYTES = "limits.max-pending-bytes";

    static final String COUNT = "limits.max-pending-connections";

    private final AcceptedConnection connection;
    private final PendingBudget budget;
    private final PendingConnections own;
    private InetAddress address;
    private long bytes;
    private boolean complete;
    private boolean evicted;

    // links of PendingConnections.Queue
    @Nullable
    PendingConnection older;

    @Nullable
    PendingConnection newer;

    /** A connection of an address, which must be a result of {@link io.smqtt.spi.ClientNetwork#of}. */
    PendingConnection(AcceptedConnection connection, InetAddress address, PendingBudget budget) {
        this.connection = connection;
        this.address = address;
        this.budget = budget;
        this.own = budget.of(connection.channel().eventLoop());
        own.unfinished().add(this);
    }

    /** Sets the client's address behind a proxy: received bytes count for it. */
    void from(InetAddress client) {
        budget.count(address, -bytes);
        address = client;
        budget.count(address, bytes);
    }

    /** The address for which it counts: the client's, or the proxy's before that is known. */
    InetAddress address() {
        return address;
    }

    boolean isOlderThan(PendingConnection other) {
        return connection.acceptedNanos() - other.connection.acceptedNanos() < 0;
    }

    /** The received bytes. */
    long bytes() {
        return bytes;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof ByteBuf arrived) {
            int count = arrived.readableBytes();
            bytes += count;
            own.count(count);
            budget.count(address, count);
            if (!budget.makeRoom(this, connection.channel().eventLoop())) {
                ReferenceCountUtil.release(message);
                return;
            }
        }
        context.fireChannelRead(message);
    }

    /** The CONNECT is complete. Can be called more than once. */
    void complete() {
        if (!complete) {
            complete = true;
            own.unfinished().remove(this);
            own.waiting().add(this);
        }
    }

    /** The client is accepted or disconnected. Called once. */
    void settle() {
        (complete ? own.waiting() : own.unfinished()).remove(this);
        complete = true;
        own.count(-bytes);
        budget.count(address, -bytes);
        if (connection.channel().isActive()) {
            connection.channel().pipeline().remove(this);
        }
    }

    /** Closes the connection at once, without TLS and WebSocket close messages. */
    void evict(String limit) {
        evicted = true;
        connection.evict(limit);
    }

    boolean isEvicted() {
        return evicted;
    }
}
