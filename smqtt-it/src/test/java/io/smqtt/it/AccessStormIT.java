// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.SoftAssertions.assertSoftly;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many clients, of several processes if wished, lose their connections, and connect again and again while the HTTP server that has to check them
 * is slow, says nothing, or is not there, and then works again. Two other clients go on as if nothing had happened. Times are printed, beside those of a thread that
 * only sleeps; with {@code smqtt.storm.bounds} they are asserted, too.
 */
class AccessStormIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int PROCESSES = Integer.getInteger("smqtt.storm.processes", 1);
    private static final int CLIENTS = Integer.getInteger("smqtt.storm.clients", 1_000) / PROCESSES * PROCESSES;
    private static final int POOL = 8;
    private static final long RETRY_MILLIS = Long.getLong("smqtt.storm.retry.millis", 1_000);

    /** How long the server stays as it is after all clients have tried. */
    private static final Duration BROKEN = Duration.ofMillis(Long.getLong("smqtt.storm.broken.millis", 0));

    /** Seconds until all are connected, milliseconds of QoS 1 and of event loops for 99 %; empty for no bounds. */
    private static final String BOUNDS = System.getProperty("smqtt.storm.bounds", "");

    @TempDir
    Path directory;

    private final List<LoadProcess> clients = new ArrayList<>();
    private int management;
    private UserServer server;
    private BrokerProcess broker;

    @BeforeEach
    void start() throws IOException {
        int port = LoopbackPorts.one();
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
                      cache-ttl: 0s
                      max-concurrent: %d
                limits:
                  max-pending-connections: 20000
                  max-pending-connections-per-address: 20000
                """.formatted(port, POOL);
        broker = LoopbackBroker.with(directory, blocks, "management.port=" + management, "storage.kind=memory");
        int each = CLIENTS / PROCESSES;
        for (int i = 0; i < PROCESSES; i++) {
            clients.add(LoadProcess.start(StormClients.class, broker.port("tcp"), i * each, each, RETRY_MILLIS));
        }
    }

    @AfterEach
    void stop() {
        clients.forEach(LoadProcess::close);
        broker.close();
        server.close();
    }

    @Test
    void aSlowServerDelaysClientsAndNothingElse() throws Exception {
        storm(() -> server.delayMillis = 2_000, () -> server.delayMillis = 0);
    }

    @Test
    @Tag("long")
    void aServerThatSaysNothingDelaysClientsAndNothingElse() throws Exception {
        storm(() -> server.silent = true, () -> server.silent = false);
    }

    @Test
    @Tag("long")
    void aServerThatIsKilledAndComesBackDelaysClientsAndNothingElse() throws Exception {
        storm(() -> server.close(), () -> server = new UserServer(server.port()));
    }

    private interface Step {
        void run() throws IOException;
    }

    private void storm(Step breaks, Step repairs) throws Exception {
        try (AckFlow flow = new AckFlow("flow-1", broker.port("tcp"));
                AckFlow other = new AckFlow("flow-2", broker.port("tcp")); // on the other event loop, if there are two
                SleepDelays machine = new SleepDelays()) {
            clients.forEach(LoadProcess::begin);
            await().atMost(PATIENCE).until(() -> sum(StormClients.CONNECTED) == CLIENTS);
            await().atMost(PATIENCE).until(() -> flow.acknowledged() > 1_000 && other.acknowledged() > 1_000);
            long earlier = sum(StormClients.ATTEMPTS);
            flow.forget();
            other.forget();
            breaks.run();
            LoopDelays atFirst = LoopDelays.of(Scrape.of(management));
            clients.forEach(LoadProcess::order);
            await().atMost(PATIENCE).until(() -> sum(StormClients.ATTEMPTS) - earlier >= CLIENTS);
            if (!BROKEN.isZero()) {
                await().pollDelay(BROKEN).atMost(BROKEN.plus(PATIENCE)).until(() -> true);
            }
            LoopDelays broken = LoopDelays.of(Scrape.of(management));
            int greatest = server.greatest.get();
            long tried = sum(StormClients.ATTEMPTS) - earlier;
            long dropped = droppedByTheQueue();
            Arrivals arrivals = new Arrivals(sum(StormClients.CONNECTED));
            repairs.run();
            arrivals.repaired();
            try {
                await().atMost(PATIENCE)
                        .pollInterval(Duration.ofMillis(50))
                        .until(() -> arrivals.note(sum(StormClients.CONNECTED)));
            } finally {
                System.out.printf(
                        "storm of %d clients of %d processes: %d attempts before the repair and %d after it, of which %d found no port or "
                                + "listener, and %d packets found the queue of the operating system full; questions %s; %s%n",
                        CLIENTS,
                        PROCESSES,
                        tried,
                        sum(StormClients.ATTEMPTS) - earlier - tried,
                        sum(StormClients.UNREACHABLE),
                        droppedByTheQueue() - dropped,
                        outcomes(),
                        arrivals);
            }

            LoopDelays atLast = LoopDelays.of(Scrape.of(management));
            System.out.printf(
                    "at most %d requests at once; QoS 1: %s; %s%nevent loops before the repair: %s%nafter it: %s%nin all: %s%n"
                            + "a thread that only sleeps: %s%n%s%n",
                    Math.max(greatest, server.greatest.get()),
                    flow.figures(),
                    other.figures(),
                    broken.since(atFirst),
                    atLast.since(broken),
                    atLast.since(atFirst),
                    machine,
                    broker.output().stream()
                            .filter(line -> line.contains("overload level"))
                            .toList());
            assertThat(Math.max(greatest, server.greatest.get())).isLessThanOrEqualTo(POOL);
            assertThat(flow.failure()).isNull();
            assertThat(other.failure()).isNull();
            if (!BOUNDS.isEmpty()) {
                requireBounds(arrivals, Math.max(flow.p99Millis(), other.p99Millis()), atLast.since(atFirst));
            }
        }
    }

    private static void requireBounds(Arrivals arrivals, double acknowledgedMillis, LoopDelays loops) {
        double[] bounds = Stream.of(BOUNDS.split(",", -1))
                .mapToDouble(Double::parseDouble)
                .toArray();
        assertThat(bounds).as("smqtt.storm.bounds").hasSize(3);
        assertSoftly(softly -> {
            softly.assertThat(arrivals.allSeconds())
                    .as("seconds from the repair until all are connected")
                    .isLessThanOrEqualTo(bounds[0]);
            softly.assertThat(acknowledgedMillis)
                    .as("milliseconds of 99 %% of the acknowledgements")
                    .isLessThanOrEqualTo(bounds[1]);
            softly.assertThat(loops.millis(0.99))
                    .as("milliseconds of 99 %% of the due tasks of event loops: %s", loops)
                    .isLessThanOrEqualTo(bounds[2]);
        });
    }

    private long sum(int figure) {
        return clients.stream().mapToLong(client -> client.figure(figure)).sum();
    }

    /** When how many of the clients were connected after the repair, to a tenth of a second. */
    private static final class Arrivals {

        private final long before;
        private final long[] wanted;
        private final long[] reachedNanos;
        private long repairedNanos;

        Arrivals(long before) {
            this.before = before;
            long left = CLIENTS - before;
            this.wanted = new long[] {before + 1, before + left / 2, before + left * 99 / 100, CLIENTS};
            this.reachedNanos = new long[wanted.length];
        }

        void repaired() {
            repairedNanos = System.nanoTime();
        }

        /** Notes the number of clients that are connected now. Returns whether these are all. */
        boolean note(long now) {
            for (int i = 0; i < wanted.length; i++) {
                if (now >= wanted[i] && reachedNanos[i] == 0) {
                    reachedNanos[i] = System.nanoTime() - repairedNanos;
                }
            }
            return now == CLIENTS;
        }

        double allSeconds() {
            return reachedNanos[reachedNanos.length - 1] / 1e9;
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%d connected before, then the first after %.1f s, half after %.1f s, 99 %% after %.1f s, all after %.1f s",
                    before,
                    reachedNanos[0] / 1e9,
                    reachedNanos[1] / 1e9,
                    reachedNanos[2] / 1e9,
                    reachedNanos[3] / 1e9);
        }
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

    /** What came of the questions to the server. */
    private String outcomes() throws IOException, InterruptedException {
        return Scrape.of(management)
                .of("smqtt_access_backend_requests_total{")
                .map(line -> line.replaceAll(".*outcome=\"([a-z_]+)\"[^ ]* ([0-9]+).*", "$1 $2"))
                .toList()
                .toString();
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

        int port() {
            return socket.getLocalPort();
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
                if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
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
