// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Strangers at the cluster's port of a node with a heap of 256 MiB: noise, frames that nodes have said to each other with bytes changed, and
 * connections that say a part and wait. Run by {@code smqtt-it/prove strangers}; prints its figures.
 */
class ClusterStrangersProof {

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final long FRAMES = Long.getLong("smqtt.frames", 10_000_000);
    private static final long SEED = Long.getLong("smqtt.seed", 20_261_122);
    private static final int STRANGERS = 2;
    private static final int FRAMES_TOGETHER = 64;
    private static final int WAITING = 200;
    private static final int GREETING = 15;
    private static final int LINES_PER_MINUTE = 10 * (6 + 1); // of each reason, and one with the number of the others

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    private final List<Integer> ports = LoopbackPorts.some(2);
    private final List<byte[]> said = said();
    private final AtomicLong frames = new AtomicLong();
    private final AtomicLong connections = new AtomicLong();

    @Test
    void withoutAnything() throws Exception {
        prove("neither", index -> "");
    }

    @Test
    void withASecret() throws Exception {
        prove("secret", index -> "  secret: a-secret-of-all-nodes");
    }

    @Test
    void withMutualTls() throws Exception {
        TestCertificates certificates = TestCertificates.in(Files.createDirectory(directory.resolve("certificates")));
        prove("TLS", index -> {
            String name = "node" + index;
            certificates.renewNode(name);
            return "  tls: {certificate: '%s', key: '%s', client-ca: '%s'}"
                    .formatted(certificates.certificate(name), certificates.key(name), certificates.authority());
        });
    }

    private interface Guard {
        String of(int node);
    }

    private void prove(String mode, Guard guard) throws Exception {
        try (BrokerProcess one = start(0, ports.get(0), guard.of(0))) {
            try (BrokerProcess other = start(1, ports.get(0), guard.of(1));
                    Bystander bystander = Bystander.start(one.address("tcp"))) {
                awaitTogether(one, other);
                await().atMost(PATIENCE).until(() -> bystander.rounds() > 2_000);
                String before = bystander.figures();
                double p99Before = bystander.p99Millis();
                bystander.forget();

                long beganNanos = System.nanoTime();
                List<Socket> waiting = wait(ports.get(0));
                List<Thread> strangers = new ArrayList<>();
                for (int i = 0; i < STRANGERS; i++) {
                    Random random = new Random(SEED + i);
                    strangers.add(daemon(() -> shout(random, ports.get(0), mode)));
                }
                for (Thread stranger : strangers) {
                    stranger.join();
                }
                long seconds = Duration.ofNanos(System.nanoTime() - beganNanos).toSeconds();
                double p99 = bystander.p99Millis();
                for (Socket socket : waiting) {
                    socket.close();
                }
                assertThat(one.handle().isAlive()).as(one.report()).isTrue();
                assertThat(other.handle().isAlive()).as(other.report()).isTrue();
                long left = other.output().stream()
                        .filter(line -> line.contains("left"))
                        .count();
                awaitTogether(one, other);
                List<String> noise = one.output().stream()
                        .filter(line -> line.contains("WARN") || line.contains("ERROR"))
                        .toList();
                System.out.printf(
                        Locale.ROOT,
                        "%s: %d frames on %d connections in %d s; p99 %.2f ms before, %.2f ms meanwhile; %d lines of log, %d of a node that left%n"
                                + "  before:    %s%n  meanwhile: %s%n",
                        mode,
                        frames.get(),
                        connections.get(),
                        seconds,
                        p99Before,
                        p99,
                        noise.size(),
                        left,
                        before,
                        bystander.figures());
                assertThat(noise.size()).isLessThanOrEqualTo(LINES_PER_MINUTE * (int) (seconds / 60 + 2));
            }
        }
    }

    private BrokerProcess start(int node, int seed, String guard) throws IOException {
        String yaml = """
                management: {port: 0}
                listeners:
                  tcp: {host: 127.0.0.1, port: 0}
                  ws: {enabled: false}
                storage: {kind: memory}
                cluster:
                  enabled: true
                  node-id: n%d
                  bind: '127.0.0.1:%d'
                  seeds: ['127.0.0.1:%d']
                %s
                """.formatted(node, ports.get(node), seed, guard);
        Path home = Files.createDirectories(directory.resolve("n" + node));
        List<String> small = List.of("env", "JAVA_TOOL_OPTIONS=-Xmx256m -XX:+ExitOnOutOfMemoryError");
        return BrokerProcess.start(home, small, Files.writeString(home.resolve("smqtt.yaml"), yaml));
    }

    private void awaitTogether(BrokerProcess... brokers) {
        for (BrokerProcess broker : brokers) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(view(broker).peers())
                            .as(broker.report())
                            .singleElement()
                            .matches(NodeView.PeerView::reachable));
        }
    }

    private NodeView view(BrokerProcess broker) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + broker.port("management") + "/cluster");
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(PATIENCE).build();
        return NodeView.of(
                http.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }

    /** Frames that nodes of version 5.5 of the channel's library have said or could have: discovery, joining, views, heartbeats, digests. */
    private static List<byte[]> said() {
        try (InputStream in = ClusterStrangersProof.class.getResourceAsStream("/cluster-frames.hex")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .map(HexFormat.of()::parseHex)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "stranger");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static List<Socket> wait(int port) throws IOException {
        List<Socket> waiting = new ArrayList<>();
        for (int i = 0; i < WAITING; i++) {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.getOutputStream().write('b');
            waiting.add(socket);
        }
        return waiting;
    }

    private void shout(Random random, int port, String mode) {
        while (frames.get() < FRAMES) {
            connections.incrementAndGet();
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoLinger(true, 0); // no ports in TIME_WAIT
                OutputStream out = socket.getOutputStream();
                out.write(connection(random, mode));
                out.flush();
                if (random.nextInt(8) == 0) {
                    socket.setSoTimeout(20);
                    socket.getInputStream().readNBytes(64);
                }
            } catch (IOException e) {
                // hung up on
            }
        }
    }

    private byte[] connection(Random random, String mode) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int kind = random.nextInt(10);
        if (mode.equals("neither") || kind == 1) {
            byte[] greeting = {'b', 'e', 'l', 'a', 41, 71, 0, 7, 4, 127, 0, 0, 1, 0, 0};
            greeting[GREETING - 2] = (byte) (1 + random.nextInt(3)); // a port below those of nodes
            greeting[GREETING - 1] = (byte) random.nextInt();
            all.writeBytes(greeting);
        }
        for (int i = 1 + random.nextInt(FRAMES_TOGETHER); i > 0; i--) {
            byte[] frame = mutated(random, said.get(random.nextInt(said.size())));
            if (mode.equals("neither")) {
                all.writeBytes(ByteBuffer.allocate(4).putInt(frame.length).array());
            }
            all.writeBytes(frame);
            frames.incrementAndGet();
        }
        return all.toByteArray();
    }

    private static byte[] mutated(Random random, byte[] frame) {
        if (frame.length < 4 || random.nextInt(10) == 0) {
            byte[] noise = new byte[1 + random.nextInt(200)];
            random.nextBytes(noise);
            return noise;
        }
        byte[] bytes = frame.clone();
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            int at = 3 + random.nextInt(bytes.length - 3);
            switch (random.nextInt(3)) {
                case 0 -> bytes[at] = (byte) random.nextInt();
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                default -> {
                    for (int i = at; i < Math.min(at + 4, bytes.length); i++) {
                        bytes[i] = (byte) (i == at ? 0x7F : 0xFF);
                    }
                }
            }
        }
        return bytes;
    }
}
