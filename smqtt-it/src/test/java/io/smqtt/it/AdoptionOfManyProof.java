// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node with many stored sessions is killed, and another one adopts them. Each has a subscription of its own, and each tenth one a message. Printed are the
 * times, the CPU and the memory of the adopter, and the return.
 *
 * <p>{@code -Dsmqtt.adoption.sessions=100000}, {@code -Dsmqtt.adoption.heap=768} (MiB of each node), {@code -Dsmqtt.seed}.
 */
class AdoptionOfManyProof {

    private static final int SESSIONS = Integer.getInteger("smqtt.adoption.sessions", 100_000);
    private static final int HEAP_MEGABYTES = Integer.getInteger("smqtt.adoption.heap", 768);
    private static final int CLIENTS = 32;
    private static final int PROBES = 1_000;
    private static final int WITH_MESSAGE = 10;
    private static final int UNAVAILABLE = 0x88;
    private static final long TICK_MILLIS = 10; // of /proc/PID/stat
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Pattern ADOPTED = Pattern.compile("adopted (\\d+) sessions of node n0 in (\\d+) ms");

    private final Random random = new Random(Long.getLong("smqtt.seed", 1));

    @TempDir
    Path directory;

    @Test
    void manySessionsAreServedByAnotherNode() {
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory, HEAP_MEGABYTES)) {
            long began = System.nanoTime();
            inParallel(CLIENTS, client -> create(cluster, client));
            try (RawClient publisher = cluster.open(0)) {
                publisher.connect("publisher");
                for (int i = 0; i < SESSIONS; i += WITH_MESSAGE) {
                    publisher.publish("many/" + i, "waiting", 1);
                }
            }
            say("%d sessions in %d ms; memory of n0 %s", SESSIONS, millisSince(began), memory(cluster, 0));

            String[] before = {memory(cluster, 1), memory(cluster, 2)};
            long[] cpu = {cpuMillis(cluster, 1), cpuMillis(cluster, 2)};
            long killed = System.nanoTime();
            cluster.kill(0);
            List<Long> first = inParallel(2, client -> awaitSession(cluster, 1 + client, 1 + client, killed));
            await().atMost(PATIENCE).until(() -> cluster.servers(1).get("n0") != null && adopter(cluster) != null);
            Matcher adopted = requireAdopted(cluster);
            int adopter = cluster.servers(1).get("n0").equals("n1") ? 1 : 2;
            say(
                    "n%d has adopted %s sessions, of which reading took %s ms; a session was found on n1 after %d ms and on n2 after %d ms "
                            + "from the kill; CPU of n%d meanwhile %d ms; its memory before: %s, then: %s",
                    adopter,
                    adopted.group(1),
                    adopted.group(2),
                    first.get(0),
                    first.get(1),
                    adopter,
                    cpuMillis(cluster, adopter) - cpu[adopter - 1],
                    before[adopter - 1],
                    memory(cluster, adopter));
            assertThat(Integer.parseInt(adopted.group(1))).isEqualTo(SESSIONS);

            long probing = System.nanoTime();
            AtomicInteger next = new AtomicInteger();
            List<Integer> probes = random.ints(2L * PROBES, 0, SESSIONS)
                    .boxed()
                    .distinct()
                    .limit(PROBES)
                    .toList();
            inParallel(CLIENTS, client -> {
                for (int i = next.getAndIncrement(); i < probes.size(); i = next.getAndIncrement()) {
                    probe(cluster, 1 + i % 2, probes.get(i));
                }
                return 0L;
            });
            say("%d sessions moved to their clients in %d ms", probes.size(), millisSince(probing));

            long restarted = System.nanoTime();
            cluster.start(0);
            long started = millisSince(restarted);
            await().atMost(PATIENCE)
                    .until(() -> IntStream.range(0, ReplicatedCluster.NODES)
                            .allMatch(node -> "n0".equals(cluster.servers(node).get("n0"))));
            say("n0 serves again %d ms after its start, all know it after %d ms", started, millisSince(restarted));
            int rest = IntStream.range(0, SESSIONS)
                    .filter(session -> !probes.contains(session) && session > 2)
                    .findFirst()
                    .orElseThrow();
            probe(cluster, 0, rest);
            probe(cluster, 2, rest);
        }
    }

    private static void say(String format, Object... values) {
        System.out.println("[adoption-many] " + String.format(Locale.ROOT, format, values));
    }

    private static long millisSince(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos).toMillis();
    }

    /** Runs a task so many times at once. */
    private static List<Long> inParallel(int count, IntFunction<Long> task) {
        List<CompletableFuture<Long>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int each = i;
            all.add(CompletableFuture.supplyAsync(() -> task.apply(each), THREADS));
        }
        return all.stream().map(CompletableFuture::join).toList();
    }

    private static long create(ReplicatedCluster cluster, int client) {
        for (int i = client; i < SESSIONS; i += CLIENTS) {
            try (RawClient session = cluster.open(0)) {
                session.send(connect(i))
                        .send(SubscribeBytes.of(1).filter("many/" + i, 1))
                        .expect(MqttMessageType.CONNACK);
                session.expect(MqttMessageType.SUBACK);
                session.send((byte) 0xE0, (byte) 0);
            }
        }
        return 0;
    }

    private static ConnectBytes connect(int session) {
        return ConnectBytes.of("many-" + session).persistent(3_600);
    }

    /** Connects until the session is found; returns after how many milliseconds from a moment. */
    private static long awaitSession(ReplicatedCluster cluster, int node, int session, long fromNanos) {
        while (true) {
            try (RawClient client = cluster.open(node)) {
                ReceivedPacket answer = client.send(connect(session)).expect(MqttMessageType.CONNACK);
                if (answer.reasonCode() != UNAVAILABLE) {
                    assertThat(answer.sessionPresent()).isTrue();
                    return millisSince(fromNanos);
                }
            }
            assertThat(millisSince(fromNanos)).isLessThan(PATIENCE.toMillis());
        }
    }

    private static void probe(ReplicatedCluster cluster, int node, int session) {
        try (RawClient client = cluster.open(node)) {
            assertThat(client.connect(connect(session)).sessionPresent())
                    .as("session %d at n%d", session, node)
                    .isTrue();
            if (session % WITH_MESSAGE == 0 && node != 0) {
                client.pubAck(client.expectPublish("many/" + session, "waiting"));
            }
            client.disconnect();
        }
    }

    private static Matcher requireAdopted(ReplicatedCluster cluster) {
        Matcher adopted = adopter(cluster);
        if (adopted == null) {
            throw new AssertionError("no node has adopted the store");
        }
        return adopted;
    }

    private static @Nullable Matcher adopter(ReplicatedCluster cluster) {
        for (int node = 1; node < ReplicatedCluster.NODES; node++) {
            Matcher matcher =
                    ADOPTED.matcher(String.join("\n", cluster.broker(node).output()));
            if (matcher.find()) {
                return matcher;
            }
        }
        return null;
    }

    private static long cpuMillis(ReplicatedCluster cluster, int node) {
        String stat = read("/proc/" + cluster.broker(node).handle().pid() + "/stat");
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * TICK_MILLIS;
    }

    /** The resident memory, and the used heap with its garbage. */
    private static String memory(ReplicatedCluster cluster, int node) {
        long pid = cluster.broker(node).handle().pid();
        String resident = read("/proc/" + pid + "/status")
                .lines()
                .filter(line -> line.startsWith("VmRSS:"))
                .map(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1_024 + " MiB resident")
                .findFirst()
                .orElse("?");
        return resident + ", heap after a collection " + liveHeap(pid);
    }

    private static String liveHeap(long pid) {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        String last = "?";
        for (String command : List.of("GC.run", "GC.heap_info")) {
            try (CapturedProcess process =
                    CapturedProcess.start("jcmd", new ProcessBuilder(jcmd.toString(), Long.toString(pid), command))) {
                process.awaitExit(PATIENCE);
                for (String line : process.output()) {
                    Matcher used = Pattern.compile("(?:heap|generation)\\s.*?used (\\d+)K")
                            .matcher(line);
                    if (used.find()) {
                        last = (last.equals("?") ? "" : last + " + ") + Long.parseLong(used.group(1)) / 1_024 + " MiB";
                    }
                }
            }
        }
        return last;
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
