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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Which node owns a client, as a register whose history is checked by Porcupine: clients with the same identifiers connect to all of three nodes with
 * {@code storage.replicas: 3}, while one of them is killed and started, or frozen, again and again. Needs Go.
 *
 * <p>{@code -Dsmqtt.owners.rounds=10}, {@code -Dsmqtt.owners.registers=4}, {@code -Dsmqtt.owners.freezes=50} (of 100 rounds), {@code
 * -Dsmqtt.seed}.
 */
class SessionOwnersProof {

    private static final int ROUNDS = Integer.getInteger("smqtt.owners.rounds", 10);
    private static final int REGISTERS = Integer.getInteger("smqtt.owners.registers", 4);
    private static final int FREEZES = Integer.getInteger("smqtt.owners.freezes", 50);
    private static final int CLIENTS_OF_EACH = 3;
    private static final int LONGEST_MILLIS = 3_000;

    /** Longer than the other nodes need to notice it. */
    private static final int FROZEN_MILLIS = 15_000;

    private static final int OPERATIONS = 200;
    private static final int NOT_LINEARIZABLE = 1;
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final RegisterHistory history = new RegisterHistory();

    @TempDir
    Path directory;

    @Test
    void aClientHasOneOwnerAtATime() throws InterruptedException {
        System.out.println("[owners] seed " + seed);
        List<SessionRegister> clients = new ArrayList<>();
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            await().atMost(PATIENCE).until(cluster::isHome);
            for (int register = 0; register < REGISTERS; register++) {
                AtomicInteger values = new AtomicInteger();
                for (int i = 0; i < CLIENTS_OF_EACH; i++) {
                    clients.add(new SessionRegister(
                            cluster, history, "register" + register, clients.size(), values, random.nextLong()));
                }
            }
            clients.forEach(Thread::start);
            for (int round = 1; round <= ROUNDS; round++) {
                awaitOperations();
                run(cluster, round);
            }
            awaitOperations();
            for (SessionRegister client : clients) {
                client.end();
            }
        }
        System.out.printf(
                Locale.ROOT,
                "[owners] seed %d, rounds %d: %d operations; %d connections refused, %d ended early%n",
                seed,
                ROUNDS,
                history.size(),
                clients.stream().mapToInt(SessionRegister::refused).sum(),
                clients.stream().mapToInt(SessionRegister::broken).sum());
        try (CapturedProcess checker =
                history.check(Path.of("target", "owners.txt").toAbsolutePath())) {
            checker.output().forEach(line -> System.out.println("[owners] " + line));
            assertThat(checker.awaitExit(PATIENCE)).as(checker.report()).isZero();
        }
        try (CapturedProcess checker = history.withStaleRead().check(directory.resolve("stale.txt"))) {
            assertThat(checker.awaitExit(PATIENCE)).as(checker.report()).isEqualTo(NOT_LINEARIZABLE);
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
            await().atMost(PATIENCE).until(() -> cluster.isHome() || !cluster.isLive(node));
            if (!cluster.isLive(node)) {
                cluster.kill(node);
                cluster.start(node);
            }
        } else {
            cluster.kill(node);
            pause(random.nextInt(LONGEST_MILLIS));
            cluster.start(node);
        }
        await().atMost(PATIENCE).until(cluster::isHome);
        System.out.printf(
                Locale.ROOT,
                "[owners] round %d: n%d %s, %d operations until its return%n",
                round,
                node,
                freezes ? "frozen" : "killed",
                history.size() - before);
    }

    private static void pause(int millis) {
        await().atMost(PATIENCE).pollDelay(Duration.ofMillis(1 + millis)).until(() -> true);
    }
}
