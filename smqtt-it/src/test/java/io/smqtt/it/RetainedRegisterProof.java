// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Retained messages as registers, whose history is checked by Porcupine: clients publish and subscribe at all of three nodes with {@code
 * storage.replicas: 3}, while one of them is killed and started, or frozen, again and again. What each node shows must be linearizable, with the writes
 * of all nodes; whether all nodes together are is printed. Needs Go.
 *
 * <p>{@code -Dsmqtt.registers.rounds=10}, {@code -Dsmqtt.registers.count=4}, {@code -Dsmqtt.registers.freezes=50} (of 100 rounds), {@code
 * -Dsmqtt.seed}.
 */
class RetainedRegisterProof {

    private static final int ROUNDS = Integer.getInteger("smqtt.registers.rounds", 10);
    private static final int REGISTERS = Integer.getInteger("smqtt.registers.count", 4);
    private static final int FREEZES = Integer.getInteger("smqtt.registers.freezes", 50);
    private static final int THREADS = 8;
    private static final int LONGEST_MILLIS = 3_000;

    /** Longer than the other nodes need to notice it. */
    private static final int FROZEN_MILLIS = 15_000;

    private static final int OPERATIONS = 300;
    private static final int NOT_LINEARIZABLE = 1;
    private static final Duration PATIENCE = Duration.ofSeconds(180);

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final RegisterHistory history = new RegisterHistory();
    private final List<RegisterHistory> nodes =
            Stream.generate(RegisterHistory::new).limit(ReplicatedCluster.NODES).toList();

    @TempDir
    Path directory;

    @Test
    void eachNodeIsALinearizableRegister() throws InterruptedException {
        System.out.println("[registers] seed " + seed);
        RetainedRegister.Registers registers = new RetainedRegister.Registers(
                history,
                nodes,
                Stream.generate(AtomicInteger::new).limit(REGISTERS).toList());
        List<RetainedRegister> clients = new ArrayList<>();
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            awaitHome(cluster);
            for (int i = 0; i < THREADS; i++) {
                clients.add(new RetainedRegister(cluster, registers, i, random.nextLong()));
            }
            clients.forEach(Thread::start);
            for (int round = 1; round <= ROUNDS; round++) {
                awaitOperations();
                run(cluster, round);
            }
            awaitOperations();
            for (RetainedRegister client : clients) {
                client.end();
            }
        }
        System.out.printf(
                Locale.ROOT,
                "[registers] seed %d, rounds %d: %d operations; %d connections ended early or were refused%n",
                seed,
                ROUNDS,
                history.size(),
                clients.stream().mapToInt(RetainedRegister::broken).sum());
        System.out.println("[registers] all nodes together: "
                + (check(history, "all", "target") == 0 ? "linearizable" : "not linearizable"));
        List<Integer> codes = IntStream.range(0, nodes.size())
                .mapToObj(node -> check(nodes.get(node), "n" + node, "target"))
                .toList();
        assertThat(codes).containsOnly(0);
        assertThat(check(nodes.get(0).withStaleRead(), "stale", directory.toString()))
                .isEqualTo(NOT_LINEARIZABLE);
    }

    /** The exit code of the checker. */
    private static int check(RegisterHistory checked, String name, String keptIn) {
        Path file = Path.of(keptIn, "retained-" + name + ".txt").toAbsolutePath();
        try (CapturedProcess checker = checked.check(file)) {
            int code = checker.awaitExit(PATIENCE);
            checker.output().forEach(line -> System.out.println("[registers] " + name + ' ' + line));
            return code;
        }
    }

    private void awaitOperations() {
        int before = history.size();
        await().atMost(PATIENCE).until(() -> history.size() >= before + OPERATIONS);
    }

    private void run(ReplicatedCluster cluster, int round) {
        int node = random.nextInt(ReplicatedCluster.NODES);
        boolean freezes = random.nextInt(100) < FREEZES;
        int before = history.size();
        if (freezes) {
            cluster.broker(node).signal("STOP");
            pause(FROZEN_MILLIS);
            cluster.broker(node).signal("CONT");
            awaitOperations();
        } else {
            cluster.kill(node);
            pause(random.nextInt(LONGEST_MILLIS));
            cluster.start(node);
        }
        awaitHome(cluster);
        System.out.printf(
                Locale.ROOT,
                "[registers] round %d: n%d %s, %d operations until its return%n",
                round,
                node,
                freezes ? "frozen" : "killed",
                history.size() - before);
    }

    /** Waits until each node serves its own store; one that is not alive any more is started again, as by a supervisor. */
    private static void awaitHome(ReplicatedCluster cluster) {
        await().atMost(PATIENCE).until(() -> {
            for (int node = 0; node < ReplicatedCluster.NODES; node++) {
                if (!cluster.isLive(node)) {
                    cluster.kill(node);
                    cluster.start(node);
                }
            }
            return cluster.isHome();
        });
    }

    private static void pause(int millis) {
        await().atMost(PATIENCE).pollDelay(Duration.ofMillis(1 + millis)).until(() -> true);
    }
}
