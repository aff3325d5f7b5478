// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * Counts what arrives on a connection before its client is let in, whatever is to become of it: PROXY header, handshakes and
 * CONNECT are all held until they are complete. The first handler of the pipeline; leaves it when the client is let in. On the
 * connection's event loop.
 */
final class PendingConnection extends ChannelInboundHandlerAdapter {

    /** Why connections are closed: the configuration keys of the limits. */
    static final String BYTES = "limits.max-pending-bytes";

    static final String COUNT = "limits.max-pending-connections";

    private final AcceptedConnection connection;
    private final PendingBudget budget;
    private final PendingConnections own;
    private long bytes;
    private boolean complete;
    private boolean evicted;

    // links of PendingConnections
    @Nullable
    PendingConnection older;

    @Nullable
    PendingConnection newer;

    PendingConnection(AcceptedConnection connection, PendingBudget budget) {
        this.connection = connection;
        this.budget = budget;
        this.own = budget.of(connection.channel().eventLoop());
        own.add(this);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof ByteBuf arrived) {
            int count = arrived.readableBytes();
            bytes += count;
            own.count(count);
            if (!budget.makeRoom(this, connection.channel().eventLoop())) {
                ReferenceCountUtil.release(message);
                return;
            }
        }
        context.fireChannelRead(message);
    }

    /** The CONNECT is complete: not closed any more to make room for others. Can be called more than once. */
    void complete() {
        if (!complete) {
            complete = true;
            own.remove(this);
        }
    }

    /** The client is let in, or gone. Called once. */
    void settle() {
        complete();
        own.count(-bytes);
        if (connection.channel().isActive()) {
            connection.channel().pipeline().remove(this);
        }
    }

    /** Closes the connection at once, past TLS and WebSocket. */
    void evict(String limit) {
        evicted = true;
        complete();
        connection.evict(limit);
    }

    boolean isEvicted() {
        return evicted;
    }
}
