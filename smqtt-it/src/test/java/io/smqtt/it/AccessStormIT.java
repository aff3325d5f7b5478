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
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
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
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
    private static final long RETRY_MILLIS = Long.getLong("smqtt.storm.retry.millis", 1_000);

    /** How long the server stays as it is after all clients have tried. */
    private static final Duration BROKEN = Duration.ofMillis(Long.getLong("smqtt.storm.broken.millis", 0));

    /** Each address has about 28,000 ports, and those of refused connections are not free again for a minute. */
    private static final int SOURCES = 8;

    @TempDir
    Path directory;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Set<Integer> connected = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicLong attempts = new AtomicLong();
    private final AtomicLong unreachable = new AtomicLong();
    private final AtomicLongArray acceptedNanos = new AtomicLongArray(CLIENTS);
    private int port;
    private int management;
    private UserServer server;
    private BrokerProcess broker;

    @BeforeEach
    void start() throws IOException {
        port = LoopbackPorts.one();
        management = LoopbackPorts.one();
        server = new UserServer(port);
        String blocks = """
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
                """.formatted(port, POOL);
        broker = LoopbackBroker.with(directory, blocks, "management.port=" + management, "storage.kind=memory");
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
        try (Flow flow = new Flow("flow-1", broker.port("tcp"));
                Flow other = new Flow("flow-2", broker.port("tcp"))) { // on the other event loop, if there are two
            breaks.run();
            for (int i = 0; i < CLIENTS; i++) {
                connect(i);
            }
            await().atMost(PATIENCE).until(() -> flow.acknowledged.get() > 1_000 && other.acknowledged.get() > 1_000);
            await().atMost(PATIENCE).until(() -> attempts.get() >= CLIENTS);
            if (!BROKEN.isZero()) {
                await().pollDelay(BROKEN).atMost(BROKEN.plus(PATIENCE)).until(() -> true);
            }
            int before = connected.size();
            int greatest = server.greatest.get();
            long tried = attempts.get();
            long dropped = droppedByTheQueue();
            repairs.run();
            long repaired = System.nanoTime();
            try {
                await().atMost(PATIENCE).until(() -> connected.size() == CLIENTS);
            } finally {
                System.out.printf(
                        "storm of %d clients: %d attempts before the repair and %d after it, of which %d found no port or listener, and "
                                + "%d packets found the queue of the operating system full; questions %s; %d accepted before, then %s%n",
                        CLIENTS,
                        tried,
                        attempts.get() - tried,
                        unreachable.get(),
                        droppedByTheQueue() - dropped,
                        outcomes(),
                        before,
                        secondsAfter(repaired));
            }

            System.out.printf(
                    "at most %d requests at once; %d and %d QoS 1 messages acknowledged, 99 %% after %.1f and %.1f ms, the slowest "
                            + "after %d and %d ms; event loops at most %s behind; %s%n",
                    Math.max(greatest, server.greatest.get()),
                    flow.acknowledged.get(),
                    other.acknowledged.get(),
                    flow.percentileMillis(),
                    other.percentileMillis(),
                    TimeUnit.NANOSECONDS.toMillis(flow.slowestNanos.get()),
                    TimeUnit.NANOSECONDS.toMillis(other.slowestNanos.get()),
                    lags(),
                    broker.output().stream()
                            .filter(line -> line.contains("overload level"))
                            .toList());
            assertThat(Math.max(greatest, server.greatest.get())).isLessThanOrEqualTo(POOL);
            assertThat(flow.failure).isNull();
            assertThat(other.failure).isNull();
        }
    }

    /** When how many clients were accepted, after a time. */
    private String secondsAfter(long since) {
        long[] seconds = IntStream.range(0, CLIENTS)
                .mapToLong(acceptedNanos::get)
                .filter(at -> at - since > 0 && at != 0)
                .map(at -> at - since)
                .sorted()
                .toArray();
        if (seconds.length == 0) {
            return "none";
        }
        return "the first after %.1f s, half after %.1f s, 99 %% after %.1f s, the last of %d after %.1f s"
                .formatted(
                        seconds[0] / 1e9,
                        seconds[seconds.length / 2] / 1e9,
                        seconds[(int) (seconds.length * 0.99)] / 1e9,
                        seconds.length,
                        seconds[seconds.length - 1] / 1e9);
    }

    /** Packets of connections that the operating system dropped, because a queue of a listener was full; 0 where it does not say. */
    private static long droppedByTheQueue() throws IOException {
        Path file = Path.of("/proc/net/netstat");
        if (!Files.isReadable(file)) {
            return 0;
        }
        List<String> lines = Files.readAllLines(file);
        String[] names = lines.get(0).split(" ");
        String[] values = lines.get(1).split(" ");
        int at = List.of(names).indexOf("ListenOverflows");
        return at < 0 ? 0 : Long.parseLong(values[at]);
    }

    /** The greatest lag of each event loop within the last 15 to 30 seconds. */
    private String lags() throws IOException, InterruptedException {
        return meters().filter(line -> line.startsWith("smqtt_eventloop_lag_seconds{"))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1) + " s")
                .toList()
                .toString();
    }

    /** What came of the questions to the server. */
    private String outcomes() throws IOException, InterruptedException {
        return meters().filter(line -> line.startsWith("smqtt_access_backend_requests_total{"))
                .map(line -> line.replaceAll(".*outcome=\"([a-z_]+)\"[^ ]* ([0-9]+).*", "$1 $2"))
                .toList()
                .toString();
    }

    private Stream<String> meters() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + management + "/metrics"))
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body()
                .lines();
    }

    /** Connects one client until it is accepted. */
    private void connect(int number) {
        if (closing.get()) {
            return;
        }
        attempts.incrementAndGet();
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
                            acceptedNanos.set(number, System.nanoTime());
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
                .connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port("tcp")),
                        new InetSocketAddress("127.0.0." + (2 + number % SOURCES), 0))
                .addListener(done -> {
                    if (!done.isSuccess()) {
                        unreachable.incrementAndGet();
                        loops.schedule(() -> connect(number), RETRY_MILLIS, TimeUnit.MILLISECONDS);
                    }
                });
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
        private final AtomicIntegerArray tenthMillis = new AtomicIntegerArray(10_000);
        private final Socket socket;
        private final Thread thread;
        private volatile boolean stopped;
        private volatile Exception failure;

        Flow(String name, int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(connectPacket(name));
            assertThat(socket.getInputStream().readNBytes(4)).isEqualTo(new byte[] {0x20, 2, 0, 0});
            thread = new Thread(this::run, name);
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
                    long took = System.nanoTime() - start;
                    slowestNanos.accumulateAndGet(took, Math::max);
                    tenthMillis.incrementAndGet((int) Math.min(tenthMillis.length() - 1, took / 100_000));
                    acknowledged.incrementAndGet();
                    Thread.sleep(2);
                }
            } catch (IOException | InterruptedException e) {
                if (!stopped) {
                    failure = e;
                }
            }
        }

        /** The time within which 99 % were acknowledged. */
        double percentileMillis() {
            long left = acknowledged.get() / 100;
            int at = tenthMillis.length() - 1;
            while (at > 0 && left >= tenthMillis.get(at)) {
                left -= tenthMillis.get(at--);
            }
            return (at + 1) / 10.0;
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
                InputStream in = new BufferedInputStream(client.getInputStream());
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
