// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.Future;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;
import reactor.netty.FutureMono;
import reactor.netty.resources.LoopResources;

/**
 * The event loops of one broker, shared by its listeners only. Their threads are daemons called
 * {@code smqtt-1}, {@code smqtt-2} and so on, and refuse to be blocked by Reactor. Epoll is used if it is configured and available, NIO
 * otherwise; the choice is logged once. io_uring is never chosen, even if it is on the class path.
 */
@AnyThread
public final class EventLoops {

    private static final Logger LOG = LoggerFactory.getLogger(EventLoops.class);
    private static final Duration DISPOSE_TIMEOUT = Duration.ofSeconds(15);

    /** Maximum number of ready connections that an event loop serves before it runs due tasks. */
    private static final int CONNECTIONS_PER_TURN = 64;

    private final EventLoopGroup group;
    private final List<EventLoop> loops;
    private final LoopResources resources = new BrokerLoops();

    private EventLoops(EventLoopGroup group) {
        this.group = group;
        List<EventLoop> all = new ArrayList<>();
        for (EventExecutor loop : group) {
            all.add((EventLoop) loop);
        }
        this.loops = List.copyOf(all);
    }

    /**
     * Creates event loops; their threads start at first use.
     *
     * @param count their number; 0 for one per core
     * @param nativeTransport whether epoll is used where it is available
     * @return the event loops, to be disposed by the caller
     */
    public static EventLoops start(int count, boolean nativeTransport) {
        int threads = count > 0 ? count : Runtime.getRuntime().availableProcessors();
        Throwable unavailable = nativeTransport ? epollUnavailability() : null;
        boolean epoll = nativeTransport && unavailable == null;
        if (unavailable != null) {
            LOG.warn("{} event loops on NIO: epoll is not available: {}", threads, rootMessage(unavailable));
        } else {
            LOG.info("{} event loops on {}", threads, epoll ? "epoll" : "NIO");
        }
        IoHandlerFactory io = epoll
                ? EpollIoHandler.newFactory(CONNECTIONS_PER_TURN, DefaultSelectStrategyFactory.INSTANCE)
                : NioIoHandler.newFactory();
        return new EventLoops(new MultiThreadIoEventLoopGroup(threads, new LoopThreads(), io));
    }

    /**
     * All event loops.
     *
     * @return an immutable list, never empty, always in the same order
     */
    public List<EventLoop> all() {
        return loops;
    }

    /**
     * Returns the next event loop, round robin.
     *
     * @return one of {@link #all()}
     */
    public EventLoop next() {
        return group.next();
    }

    /**
     * Closes the registered channels and ends the threads. Can be called more than once.
     *
     * @return completes when the threads have ended
     */
    public Mono<Void> dispose() {
        return resources.disposeLater(Duration.ZERO, DISPOSE_TIMEOUT);
    }

    /**
     * Prepares a connection that this broker opens, on the next event loop. Its reads are by demand.
     *
     * @return a new bootstrap without handler and address
     */
    Bootstrap outgoing() {
        return outgoing(next());
    }

    /** The same on one of the event loops. */
    Bootstrap outgoing(EventLoop loop) {
        return new Bootstrap()
                .group(loop)
                .channel(isEpoll(loop) ? EpollSocketChannel.class : NioSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true);
    }

    /** Prepares a port of this broker that is no listener. The reads of its connections are by demand. */
    ServerBootstrap accepting() {
        return new ServerBootstrap()
                .group(group)
                .channel(isEpoll(next()) ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true);
    }

    private static boolean isEpoll(EventLoop loop) {
        return loop instanceof IoEventLoop io && io.isIoType(EpollIoHandler.class);
    }

    /** For Reactor Netty's servers. */
    LoopResources resources() {
        return resources;
    }

    private static @Nullable Throwable epollUnavailability() {
        try {
            return Epoll.unavailabilityCause();
        } catch (LinkageError e) {
            return e; // excluded by an embedding application
        }
    }

    private static String rootMessage(Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.toString();
    }

    /** Passes the event loop group to Reactor Netty, which derives the channel types from it. */
    private final class BrokerLoops implements LoopResources {

        @Override
        public EventLoopGroup onServer(boolean useNative) {
            return group;
        }

        @Override
        @SuppressWarnings({"unchecked", "rawtypes"})
        public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
            return Mono.defer(() -> {
                Future ended =
                        group.shutdownGracefully(quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS);
                return FutureMono.from(ended);
            });
        }

        @Override
        public boolean isDisposed() {
            return group.isShuttingDown();
        }
    }

    private static final class LoopThreads implements ThreadFactory {

        private final AtomicInteger count = new AtomicInteger();

        @Override
        public Thread newThread(Runnable task) {
            Thread thread = new LoopThread(task);
            thread.setName("smqtt-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        }
    }

    private static final class LoopThread extends FastThreadLocalThread implements NonBlocking {

        LoopThread(Runnable task) {
            super(task);
        }
    }
}
