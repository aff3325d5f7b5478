// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.MessageToMessageCodec;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshakerFactory;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketVersion;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Connects clients at a rate, with a limit of concurrent attempts. For one thread that may block. */
final class Connector implements LoadClient.SetUp {

    private static final int UNDER_WAY = 64;
    private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final int READY_TIMEOUT_SECONDS = 30;
    private static final long POLL_NANOS = 20_000_000L;
    private static final int READ_BYTES = 64 * 1024;
    private static final int MAX_FRAME_BYTES = 1 << 20;

    private final LoadEngine engine;
    private final Target target;
    private final List<InetAddress> hosts = new ArrayList<>();
    private final List<InetSocketAddress> sources = new ArrayList<>();
    private final Semaphore places = new Semaphore(UNDER_WAY);
    private final AtomicInteger ready = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicReference<@Nullable String> firstFailure = new AtomicReference<>();

    /** @throws LoadFailure if a name cannot be resolved */
    Connector(LoadEngine engine, Target target) {
        this.engine = engine;
        this.target = target;
        for (String host : target.hosts()) {
            hosts.add(resolve(host));
        }
        for (String source : target.sourceAddresses()) {
            sources.add(new InetSocketAddress(own(source), 0));
        }
    }

    /** Checks a local address with a socket, because not all of 127.0.0.0/8 is listed with an interface. */
    private static InetAddress own(String source) {
        InetAddress address = resolve(source);
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(address, 0))) {
            return socket.getLocalAddress();
        } catch (SocketException e) {
            throw new LoadFailure("--ifaddr " + source + ": this machine has no such address");
        }
    }

    private static InetAddress resolve(String name) {
        try {
            return InetAddress.getByName(name);
        } catch (UnknownHostException e) {
            throw new LoadFailure("host " + name + " cannot be resolved");
        }
    }

    /**
     * Connects all, one per {@code arrivalNanos}; returns when each is ready or has failed, or when the run is
     * interrupted. Stops after the first failure if no client was ready before.
     */
    void connect(List<LoadClient> clients, long arrivalNanos, Watch watch) {
        long start = System.nanoTime();
        long reported = start;
        int asked = 0;
        for (LoadClient client : clients) {
            long due = start + asked * arrivalNanos;
            while (due - System.nanoTime() > 0) {
                if (watch.interruption().isAsked()) {
                    return;
                }
                LockSupport.parkNanos(Math.min(POLL_NANOS, due - System.nanoTime()));
            }
            if (!acquire(1, watch.interruption())) {
                return;
            }
            if (failed.get() > 0 && ready.get() == 0) {
                places.release();
                break;
            }
            open(client);
            asked++;
            if (System.nanoTime() - reported > 1_000_000_000L) {
                reported = System.nanoTime();
                watch.progress().connecting(ready.get(), clients.size());
            }
        }
        if (acquire(UNDER_WAY, watch.interruption())) {
            places.release(UNDER_WAY);
        }
    }

    /** False if the run was interrupted. */
    private boolean acquire(int count, Interruption interruption) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_TIMEOUT_SECONDS);
        try {
            while (!places.tryAcquire(count, POLL_NANOS, TimeUnit.NANOSECONDS)) {
                if (interruption.isAsked()) {
                    return false;
                }
                if (System.nanoTime() - end < 0) {
                    continue;
                }
                throw new LoadFailure(target.display() + ": no answer to a connection or subscription within "
                        + READY_TIMEOUT_SECONDS + " s, " + ready.get() + " clients are connected");
            }
            return !interruption.isAsked();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LoadFailure("interrupted");
        }
    }

    int readyCount() {
        return ready.get();
    }

    int failedCount() {
        return failed.get();
    }

    /** The first failure; empty if there is none. */
    String firstFailure() {
        String text = firstFailure.get();
        return text == null ? "" : text;
    }

    @Override
    public void ready(LoadClient client) {
        ready.incrementAndGet();
        places.release();
    }

    @Override
    public void failed(LoadClient client, String why) {
        firstFailure.compareAndSet(null, why);
        failed.incrementAndGet();
        places.release();
    }

    private void open(LoadClient client) {
        int hostIndex = client.spec.number() % hosts.size();
        InetSocketAddress remote = new InetSocketAddress(hosts.get(hostIndex), target.port());
        String host = target.hosts().get(hostIndex);
        Bootstrap bootstrap = new Bootstrap()
                .group(client.loop.executor)
                .channelFactory(engine.channels())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
                .option(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_BYTES))
                .handler(new Pipeline(client, host));
        if (engine.isEpoll()) {
            bootstrap.option(EpollChannelOption.IP_BIND_ADDRESS_NO_PORT, true);
        }
        client.loop.executor.execute(() -> {
            client.loop.clients.add(client);
            client.connecting();
            ChannelFuture connecting = sources.isEmpty()
                    ? bootstrap.connect(remote)
                    : bootstrap.connect(remote, sources.get(client.spec.number() % sources.size()));
            connecting.addListener(done -> {
                if (!done.isSuccess()) {
                    client.fail(Failures.text(done.cause()));
                }
            });
        });
    }

    /** The one place that lists the handlers of a client's connection. */
    private final class Pipeline extends ChannelInitializer<SocketChannel> {

        private final LoadClient client;
        private final String host;

        Pipeline(LoadClient client, String host) {
            this.client = client;
            this.host = host;
        }

        @Override
        protected void initChannel(SocketChannel channel) {
            ChannelPipeline pipeline = channel.pipeline();
            if (target.tls() != null) {
                pipeline.addLast("tls", target.tls().newHandler(channel.alloc(), host, target.port()));
            }
            String path = target.webSocketPath();
            if (path != null) {
                String uri = (target.tls() == null ? "ws://" : "wss://") + host + ":" + target.port() + path;
                pipeline.addLast("http", new HttpClientCodec());
                pipeline.addLast("aggregator", new HttpObjectAggregator(READ_BYTES));
                pipeline.addLast(
                        "webSocket",
                        new WebSocketClientProtocolHandler(WebSocketClientHandshakerFactory.newHandshaker(
                                URI.create(uri),
                                WebSocketVersion.V13,
                                "mqtt",
                                false,
                                new DefaultHttpHeaders(),
                                MAX_FRAME_BYTES)));
                pipeline.addLast("frames", new Frames());
            }
            pipeline.addLast("mqtt", client);
        }
    }

    /** Converts between binary frames and bytes. */
    private static final class Frames extends MessageToMessageCodec<WebSocketFrame, ByteBuf> {

        @Override
        protected void encode(ChannelHandlerContext context, ByteBuf bytes, List<Object> out) {
            out.add(new BinaryWebSocketFrame(bytes.retain()));
        }

        @Override
        protected void decode(ChannelHandlerContext context, WebSocketFrame frame, List<Object> out) {
            if (frame instanceof BinaryWebSocketFrame || frame instanceof ContinuationWebSocketFrame) {
                out.add(frame.content().retain());
            }
        }
    }
}
