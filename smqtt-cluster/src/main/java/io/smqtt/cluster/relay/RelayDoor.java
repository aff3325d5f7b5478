// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.util.NetUtil;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.LogText;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.thread.AnyThread;
import io.smqtt.transport.BindFailedException;
import io.smqtt.transport.Listeners;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;

/** The port at which a node takes the clients of front nodes. */
@AnyThread
final class RelayDoor {

    /** The maximum number of connections without proof; then the oldest one is closed. */
    static final int UNPROVED = 1_024;

    /** Log lines in a minute for each reason. */
    private static final int LINES = 6;

    private static final Logger LOG = LoggerFactory.getLogger(RelayDoor.class);

    private final InetSocketAddress address;
    private final RelaySecurity security;
    private final RelayCounts counts;
    private final AtomicLong accepted = new AtomicLong();
    private final ConcurrentSkipListMap<Long, Channel> unproved = new ConcurrentSkipListMap<>();
    private final LogLimiter log = new LogLimiter(LOG, Level.WARN, LINES);
    private volatile @Nullable Channel server;
    private volatile boolean leaving;
    private volatile BooleanSupplier ready = () -> false;

    /**
     * Creates a door that is closed.
     *
     * @param address where it is
     * @param security proves that the other end is a node of this cluster
     * @param counts the relayed connections
     */
    RelayDoor(InetSocketAddress address, RelaySecurity security, RelayCounts counts) {
        this.address = address;
        this.security = security;
        this.counts = counts;
    }

    /**
     * Binds the port; fails with {@link BindFailedException}.
     *
     * @param listeners serve the clients
     * @param serves whether this node is ready
     */
    Mono<Void> open(Listeners listeners, BooleanSupplier serves) {
        ready = new RecentReadiness(serves, System::nanoTime);
        return Mono.create(sink -> listeners
                .accepting()
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accept(channel, listeners);
                    }
                })
                .bind(address)
                .addListener((ChannelFutureListener) bound -> {
                    if (bound.isSuccess()) {
                        server = bound.channel();
                        if (leaving) {
                            bound.channel().close();
                        }
                        LOG.info("takes clients of front nodes at {}", NetUtil.toSocketAddressString(address));
                        sink.success();
                    } else {
                        sink.error(new BindFailedException(
                                "cluster.relay", NetUtil.toSocketAddressString(address), bound.cause()));
                    }
                }));
    }

    private void accept(Channel channel, Listeners listeners) {
        long number = accepted.incrementAndGet();
        unproved.put(number, channel);
        channel.closeFuture().addListener(closed -> unproved.remove(number));
        if (unproved.size() > UNPROVED) {
            Map.Entry<Long, Channel> oldest = unproved.pollFirstEntry();
            if (oldest != null) {
                refused(oldest.getValue(), RelayRefusal.HANDSHAKE, "it makes room for others");
                oldest.getValue().close();
            }
        }
        security.secure(channel.pipeline(), null);
        channel.pipeline().addLast(new DoorHandler(this, listeners, number));
    }

    /** The connection has proved to be of a front node. */
    void proved(long number) {
        unproved.remove(number);
    }

    RelayCounts counts() {
        return counts;
    }

    /** Whether this node serves new clients. */
    boolean isReady() {
        return !leaving && ready.getAsBoolean();
    }

    /** Counts and logs a connection that is not taken. */
    void refused(Channel channel, RelayRefusal reason, String details) {
        counts.refused(reason);
        if (log.allows("relayed connections, " + reason)) {
            LOG.warn("refused a relayed connection of {}: {}", channel.remoteAddress(), LogText.escape(details));
        }
    }

    /** Closes the port: front nodes try other nodes. Relayed connections stay open. */
    void close() {
        leaving = true;
        Channel bound = server;
        if (bound != null) {
            bound.close();
        }
    }
}
