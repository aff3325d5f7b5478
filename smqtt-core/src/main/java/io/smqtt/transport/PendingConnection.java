// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
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
    private @Nullable InetAddress address;
    private long bytes;
    private long bytesOfAddress; // the part that came when the address was known
    private boolean complete;
    private boolean evicted;

    // links of PendingConnections.Queue
    @Nullable
    PendingConnection older;

    @Nullable
    PendingConnection newer;

    PendingConnection(AcceptedConnection connection, PendingBudget budget) {
        this.connection = connection;
        this.budget = budget;
        this.own = budget.of(connection.channel().eventLoop());
        own.unfinished().add(this);
    }

    /** Counts what arrives from now on for that address as well. */
    void from(@Nullable InetAddress client) {
        address = client;
    }

    @Nullable
    InetAddress address() {
        return address;
    }

    /** What has arrived since the address is known. */
    long bytesOfAddress() {
        return bytesOfAddress;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof ByteBuf arrived) {
            int count = arrived.readableBytes();
            bytes += count;
            own.count(count);
            if (address != null) {
                bytesOfAddress += count;
                budget.count(address, count);
            }
            if (!budget.makeRoom(this, connection.channel().eventLoop())) {
                ReferenceCountUtil.release(message);
                return;
            }
        }
        context.fireChannelRead(message);
    }

    /** The CONNECT is complete: those that are not make room for others before it. Can be called more than once. */
    void complete() {
        if (!complete) {
            complete = true;
            own.unfinished().remove(this);
            own.waiting().add(this);
        }
    }

    /** The client is let in, or gone. Called once. */
    void settle() {
        (complete ? own.waiting() : own.unfinished()).remove(this);
        complete = true;
        own.count(-bytes);
        if (address != null) {
            budget.count(address, -bytesOfAddress);
        }
        if (connection.channel().isActive()) {
            connection.channel().pipeline().remove(this);
        }
    }

    /** Closes the connection at once, past TLS and WebSocket. */
    void evict(String limit) {
        evicted = true;
        connection.evict(limit);
    }

    boolean isEvicted() {
        return evicted;
    }
}
