// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.ScheduledFuture;
import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.ClientLink;
import io.smqtt.connection.ReadPlan;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientNetwork;
import io.smqtt.spi.ConnectionRefusals;
import io.smqtt.thread.OnEventLoop;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * An accepted connection of a listener, with its counts in the limits: open until its channel closes, pending until {@link #connected()}.
 * One object per connection for its whole lifetime, so it is small.
 *
 * <p>The mutable state belongs to the connection's event loop.
 */
@OnEventLoop
public final class AcceptedConnection implements ClientLink {

    private final ListenerState listener;
    private final Channel channel;
    private final long acceptedNanos;
    private final SocketReads reads = new SocketReads();
    private InetSocketAddress remoteAddress;
    private boolean opened;
    private boolean initialized;
    private boolean refused;
    private boolean foreign; // a handshake has shown that the client is remote

    // until connected
    private @Nullable PendingConnection pending;
    private @Nullable InetAddress countedAddress;
    private @Nullable ScheduledFuture<?> deadline;
    private @Nullable Runnable onTimeout;

    // links of LoopConnections
    @Nullable
    AcceptedConnection previous;

    @Nullable
    AcceptedConnection next;

    AcceptedConnection(ListenerState listener, Channel channel, InetSocketAddress remoteAddress) {
        this.listener = listener;
        this.channel = channel;
        this.remoteAddress = remoteAddress;
        this.acceptedNanos = System.nanoTime();
        channel.config().setRecvByteBufAllocator(reads);
    }

    /**
     * The listener that accepted the connection.
     *
     * @return its name in the configuration
     */
    @Override
    public String listener() {
        return listener.name();
    }

    /**
     * The options of the listener.
     *
     * @return its configuration
     */
    @Override
    public ListenerConfig config() {
        return listener.config();
    }

    /**
     * The address of the client: the source in the PROXY header if there is one, otherwise the peer of the socket.
     *
     * @return the address, resolved; an IPv4 address is never in its IPv6 form
     */
    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public boolean local() {
        return !foreign && remoteAddress.getAddress().isLoopbackAddress();
    }

    /** Marks the client as remote, whatever its address is. */
    void foreign() {
        foreign = true;
    }

    /**
     * When the connection was accepted.
     *
     * @return a value of {@link System#nanoTime()}
     */
    public long acceptedNanos() {
        return acceptedNanos;
    }

    /**
     * Whether MQTT is carried in WebSocket frames.
     *
     * @return true for WebSocket
     */
    @Override
    public boolean webSocket() {
        return listener.config().type() == ListenerConfig.Type.WS;
    }

    /**
     * Whether the connection is encrypted.
     *
     * @return true for TLS
     */
    @Override
    public boolean tls() {
        return listener.config().tls() != null;
    }

    /**
     * The certificate that the client proved to own, verified against the listener's {@code client-ca}.
     *
     * @return the client's own certificate, or null without TLS or without a client certificate
     */
    @Override
    public @Nullable X509Certificate clientCertificate() {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls == null) {
            return null;
        }
        try {
            Certificate[] chain = tls.engine().getSession().getPeerCertificates();
            return chain.length > 0 && chain[0] instanceof X509Certificate own ? own : null;
        } catch (SSLPeerUnverifiedException e) {
            return null; // the client sent none
        }
    }

    /**
     * Sets the action for a client that has not completed CONNECT within the listener's {@code connect-timeout}. By default the channel is
     * closed.
     *
     * @param action runs once on the event loop, or never; must close the channel
     */
    @Override
    public void onConnectTimeout(Runnable action) {
        onTimeout = action;
    }

    @Override
    public Duration connectTimeLeft() {
        return deadline == null
                ? Duration.ZERO
                : Duration.ofNanos(Math.max(0, deadline.getDelay(TimeUnit.NANOSECONDS)));
    }

    /** Ends the deadline; the connection is pending until {@link #connected()}. Can be called more than once. */
    @Override
    public void connectComplete() {
        onTimeout = null;
        if (pending != null) {
            pending.complete();
        }
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    @Override
    public void plan(ReadPlan plan) {
        if (!tls() && !webSocket()) {
            reads.plan(plan);
        }
    }

    /** Marks the client as accepted: the connection is no longer pending and has no deadline here. Can be called more than once. */
    @Override
    public void connected() {
        settle();
    }

    /**
     * Counts the connection and starts its deadline; false if a limit refuses it, it is then closed. The limits of its address are checked
     * first, so that an address above them causes no other connection to be closed.
     *
     * @param client the client's address, or null if {@link #enterFrom} sets it later
     */
    boolean enter(@Nullable InetSocketAddress client) {
        InetAddress key = client == null ? countForProxy() : countFor(client);
        if (key == null) {
            return false;
        }
        String limit = listener.opened();
        if (PendingConnection.COUNT.equals(limit) && listener.pending().evictFor(key, channel.eventLoop())) {
            limit = listener.opened();
        }
        if (limit != null) {
            listener.admission().left(key);
            countedAddress = null;
            refuse(limit);
            return false;
        }
        PendingConnection counted = new PendingConnection(this, key, listener.pending());
        pending = counted;
        channel.pipeline().addFirst(PendingConnection.HANDLER, counted);
        listener.connections(channel.eventLoop()).add(this);
        channel.closeFuture().addListener(closed -> leave());
        deadline = channel.eventLoop()
                .schedule(this::expire, listener.config().connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
        if (client != null) {
            located();
        }
        return true;
    }

    /** Counts the connection for the client's address instead of the proxy's; false if a limit refuses it, it is then closed. */
    boolean enterFrom(InetSocketAddress client) {
        PendingConnection counted = pending;
        if (counted == null) {
            return false;
        }
        listener.admission().left(countedAddress);
        countedAddress = null;
        InetAddress key = countFor(client);
        if (key == null) {
            return false;
        }
        counted.from(key);
        located();
        return true;
    }

    private InetAddress countForProxy() {
        InetAddress key = ClientNetwork.of(remoteAddress.getAddress());
        listener.admission().by(key);
        countedAddress = key;
        return key;
    }

    /** Returns the counter key of the client's address; null if a limit refuses the connection, it is then closed. */
    private @Nullable InetAddress countFor(InetSocketAddress client) {
        remoteAddress = ClientAddresses.unmapped(client);
        InetAddress key = ClientNetwork.of(remoteAddress.getAddress());
        String limit = listener.admission().from(key);
        if (limit != null) {
            refuse(limit);
            return null;
        }
        countedAddress = key;
        return key;
    }

    private void located() {
        opened = true;
        listener.observer().connectionOpened(listener.name());
    }

    /** Closes the connection because of the limit with that configuration key. */
    void refuse(String limit) {
        refused(limit, null);
        channel.close();
    }

    /** Closes a pending connection to make room for others, and removes it from the counts at once. */
    void evict(String limit) {
        refused(limit, "it makes room for others");
        settle();
        channel.unsafe().close(channel.voidPromise()); // without the close messages of TLS and WebSocket
    }

    /**
     * Counts and logs the connection as refused, unless it was already. Does not close it.
     *
     * @param reason the configuration key of a limit, or a word of {@link ConnectionRefusals}
     * @param detail further text for the log, or null
     */
    void refused(String reason, @Nullable String detail) {
        if (refused) {
            return;
        }
        refused = true;
        listener.observer().connectionRefused(listener.name(), reason);
        listener.log().connectionRefused(listener.name(), remoteAddress, reason, detail);
    }

    /** The transport is ready for MQTT. */
    void initialize() {
        initialized = true;
        listener.initializer().initialize(channel, this);
    }

    Channel channel() {
        return channel;
    }

    ListenerState owner() {
        return listener;
    }

    private void settle() {
        PendingConnection counted = pending;
        if (counted == null) {
            return;
        }
        pending = null;
        counted.settle();
        listener.admission().settled(countedAddress);
        countedAddress = null;
        connectComplete();
    }

    private void leave() {
        settle();
        listener.closed();
        listener.connections(channel.eventLoop()).remove(this);
        if (opened && !initialized) {
            listener.observer().connectionClosed(listener.name(), ReasonCode.UNSPECIFIED_ERROR);
        }
    }

    private void expire() {
        Runnable action = onTimeout;
        if (action == null) {
            refused(ConnectionRefusals.CONNECT_TIMEOUT, "the handshakes took too long");
            channel.close();
        } else {
            action.run();
        }
    }
}
