// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many clients connect again and again while the HTTP server that has to check them is slow, says nothing, or is not there, and then
 * works again. The clients of before go on as if nothing had happened.
 */
class AccessStormIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int CLIENTS = Integer.getInteger("smqtt.storm.clients", 1_000);
    private static final int POOL = 8;
    private static final long RETRY_MILLIS = 1_000;

    @TempDir
    Path directory;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Set<Integer> connected = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closing = new AtomicBoolean();
    private int port;
    private UserServer server;
    private BrokerProcess broker;

    @BeforeEach
    void start() throws IOException {
        port = LoopbackPorts.one();
        server = new UserServer(port);
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), """
                access:
                  allow-anonymous: false
                  log-connections: false
                  chain: [people]
                  backends:
                    people:
                      type: http
                      url: http://127.0.0.1:%d/user
                      timeout: 3s
                      max-concurrent: %d
                limits:
                  max-pending-connections: 20000
                  max-pending-connections-per-address: 20000
                management:
                  enabled: false
                storage:
                  kind: memory
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                """.formatted(port, POOL));
        broker = BrokerProcess.start(directory, List.of(), file);
    }

    @AfterEach
    void stop() throws Exception {
        closing.set(true);
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(10_000);
        broker.close();
        server.close();
    }

    @Test
    void aSlowServerDelaysClientsAndNothingElse() throws Exception {
        storm(() -> server.delayMillis = 2_000, () -> server.delayMillis = 0);
    }

    @Test
    void aServerThatSaysNothingDelaysClientsAndNothingElse() throws Exception {
        storm(() -> server.silent = true, () -> server.silent = false);
    }

    @Test
    void aServerThatIsKilledAndComesBackDelaysClientsAndNothingElse() throws Exception {
        storm(() -> server.close(), () -> server = new UserServer(port));
    }

    private interface Step {
        void run() throws IOException;
    }

    private void storm(Step breaks, Step repairs) throws Exception {
        try (Flow flow = new Flow(broker.port("tcp"))) {
            breaks.run();
            for (int i = 0; i < CLIENTS; i++) {
                connect(i);
            }
            await().atMost(PATIENCE).until(() -> flow.acknowledged.get() > 1_000);
            int before = connected.size();
            int greatest = server.greatest.get();
            repairs.run();
            long repaired = System.nanoTime();
            await().atMost(PATIENCE).until(() -> connected.size() == CLIENTS);
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - repaired);

            System.out.printf(
                    "storm of %d clients: %d accepted while it was broken, all %d s after the repair; at most %d requests at "
                            + "once; %d QoS 1 messages acknowledged, the slowest after %d ms%n",
                    CLIENTS,
                    before,
                    seconds,
                    Math.max(greatest, server.greatest.get()),
                    flow.acknowledged.get(),
                    TimeUnit.NANOSECONDS.toMillis(flow.slowestNanos.get()));
            assertThat(Math.max(greatest, server.greatest.get())).isLessThanOrEqualTo(POOL);
            assertThat(flow.failure).isNull();
        }
    }

    /** Connects one client until it is accepted. */
    private void connect(int number) {
        if (closing.get()) {
            return;
        }
        new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext context) {
                        context.writeAndFlush(Unpooled.wrappedBuffer(connectPacket("storm" + number)));
                    }

                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        ByteBuf bytes = (ByteBuf) message;
                        boolean accepted = bytes.readableBytes() >= 4 && bytes.getByte(3) == 0;
                        bytes.release();
                        if (accepted) {
                            connected.add(number);
                        } else {
                            context.close();
                        }
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext context) {
                        connected.remove(number);
                        again(context.channel());
                    }

                    @Override
                    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                        context.close();
                    }

                    private void again(Channel channel) {
                        if (!closing.get()) {
                            channel.eventLoop().schedule(() -> connect(number), RETRY_MILLIS, TimeUnit.MILLISECONDS);
                        }
                    }
                })
                .connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port("tcp")));
    }

    private static byte[] connectPacket(String name) {
        byte[] id = name.getBytes(StandardCharsets.US_ASCII);
        ByteBuf packet = Unpooled.buffer();
        packet.writeByte(0x10).writeByte(10 + 3 * (2 + id.length));
        packet.writeShort(4).writeBytes("MQTT".getBytes(StandardCharsets.US_ASCII));
        packet.writeByte(4).writeByte(0xC2).writeShort(0);
        for (int i = 0; i < 3; i++) {
            packet.writeShort(id.length).writeBytes(id);
        }
        byte[] bytes = new byte[packet.readableBytes()];
        packet.readBytes(bytes);
        packet.release();
        return bytes;
    }

    /** A client of before that publishes one QoS 1 message after the other. */
    private static final class Flow implements AutoCloseable {

        private final AtomicLong acknowledged = new AtomicLong();
        private final AtomicLong slowestNanos = new AtomicLong();
        private final Socket socket;
        private final Thread thread;
        private volatile boolean stopped;
        private volatile Exception failure;

        Flow(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(connectPacket("flow"));
            assertThat(socket.getInputStream().readNBytes(4)).isEqualTo(new byte[] {0x20, 2, 0, 0});
            thread = new Thread(this::run, "flow");
            thread.start();
        }

        private void run() {
            byte[] publish = {0x32, 6, 0, 1, 'a', 0, 1, 'x'};
            try {
                InputStream in = socket.getInputStream();
                OutputStream out = socket.getOutputStream();
                while (!stopped) {
                    long start = System.nanoTime();
                    out.write(publish);
                    if (in.readNBytes(4).length < 4) {
                        throw new IOException("the connection has ended");
                    }
                    slowestNanos.accumulateAndGet(System.nanoTime() - start, Math::max);
                    acknowledged.incrementAndGet();
                    Thread.sleep(2);
                }
            } catch (IOException | InterruptedException e) {
                if (!stopped) {
                    failure = e;
                }
            }
        }

        @Override
        public void close() throws Exception {
            stopped = true;
            socket.close();
            thread.join(10_000);
        }
    }

    /** An HTTP server that allows everybody, and counts its requests. */
    private static final class UserServer implements AutoCloseable {

        private static final byte[] ANSWER = "HTTP/1.1 204 No Content\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

        private final ServerSocket socket;
        private final Set<Socket> open = ConcurrentHashMap.newKeySet();
        private final AtomicInteger active = new AtomicInteger();
        private final AtomicInteger greatest = new AtomicInteger();
        private volatile long delayMillis;
        private volatile boolean silent;

        UserServer(int port) throws IOException {
            socket = new ServerSocket();
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
            Thread acceptor = new Thread(this::accept, "user-server");
            acceptor.setDaemon(true);
            acceptor.start();
        }

        private void accept() {
            try {
                while (true) {
                    Socket client = socket.accept();
                    open.add(client);
                    Thread thread = new Thread(() -> serve(client), "user-server-connection");
                    thread.setDaemon(true);
                    thread.start();
                }
            } catch (IOException e) {
                // closed
            }
        }

        private void serve(Socket client) {
            try (client) {
                InputStream in = client.getInputStream();
                while (request(in)) {
                    greatest.accumulateAndGet(active.incrementAndGet(), Math::max);
                    try {
                        if (silent) {
                            in.read(); // until the broker gives up
                            return;
                        }
                        Thread.sleep(delayMillis);
                        client.getOutputStream().write(ANSWER);
                    } finally {
                        active.decrementAndGet();
                    }
                }
            } catch (IOException | InterruptedException e) {
                // the connection has ended
            } finally {
                open.remove(client);
            }
        }

        /** Reads one request. Returns false at the end of the connection. */
        private static boolean request(InputStream in) throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = in.read();
                if (next < 0) {
                    return false;
                }
                head.append((char) next);
            }
            int length = 0;
            for (String line : head.toString().split("\r\n")) {
                if (line.toLowerCase(java.util.Locale.ROOT).startsWith("content-length:")) {
                    length = Integer.parseInt(
                            line.substring(line.indexOf(':') + 1).strip());
                }
            }
            return in.readNBytes(length).length == length;
        }

        @Override
        public void close() {
            try {
                socket.close();
                for (Socket client : open) {
                    client.close();
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
