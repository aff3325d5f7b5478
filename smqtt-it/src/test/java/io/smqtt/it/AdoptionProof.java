// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;

/**
 * Three nodes with {@code storage.replicas: 3} under load. In each round one of them is killed, its clients go to the others, and it returns. At the end
 * all subscribers take what waits for them, and the account is made: nothing that was acknowledged is lost, QoS 2 comes once, the order of each
 * publisher and topic is kept, and each client finds its session.
 *
 * <p>{@code -Dsmqtt.adoption.rounds=10}, {@code -Dsmqtt.adoption.wipe=10} (each tenth time the disk is wiped, too), {@code -Dsmqtt.adoption.rate=500}
 * (messages a second), {@code -Dsmqtt.seed}. The logs of the nodes and a line for each message that did not come as it should stay in
 * {@code target/adoption}.
 */
class AdoptionProof {

    private static final int ROUNDS = Integer.getInteger("smqtt.adoption.rounds", 10);
    private static final int WIPE = Integer.getInteger("smqtt.adoption.wipe", 10);
    private static final int RATE = Integer.getInteger("smqtt.adoption.rate", 500);
    private static final int TARGET_MILLIS = 5_000;
    private static final int LONGEST_MILLIS = 500;
    private static final int MESSAGES = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Path DIRECTORY = Path.of("target", "adoption").toAbsolutePath();

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final CampaignClock clock = new CampaignClock();
    private final List<Round> rounds = new ArrayList<>();

    /** A round: when the node was killed, when it served again, 0 if not yet. */
    private record Round(int node, boolean wiped, int killedMillis, int backMillis) {}

    @Test
    void clientsOfKilledNodesFindTheirSessionsAndNothingIsLost() throws IOException {
        System.out.println("[adoption] seed " + seed + ", " + DIRECTORY);
        clear();
        try (ReplicatedCluster cluster = ReplicatedCluster.start(DIRECTORY)) {
            awaitHomes(cluster);
            AdoptionLoad load = new AdoptionLoad(cluster, clock, random, RATE);
            load.begin();
            try {
                for (int round = 1; round <= ROUNDS; round++) {
                    run(cluster, load, round);
                }
                load.awaitProgress("the end", MESSAGES);
            } catch (RuntimeException | AssertionError e) { // what came so far counts
                load.fault("the campaign has ended: " + e);
            }
            load.drain();
            report(load);
        }
    }

    private static void clear() throws IOException {
        if (Files.exists(DIRECTORY)) {
            try (Stream<Path> files = Files.walk(DIRECTORY)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
        Files.createDirectories(DIRECTORY);
    }

    private void run(ReplicatedCluster cluster, AdoptionLoad load, int round) {
        String name = "round " + round;
        load.doze();
        load.wander();
        load.awaitProgress(name, MESSAGES);
        await().pollDelay(Duration.ofMillis(1 + random.nextInt(LONGEST_MILLIS))).until(() -> true);
        int node = random.nextInt(ReplicatedCluster.NODES);
        boolean wiped = round % WIPE == 0;
        int killed = clock.millis();
        rounds.add(new Round(node, wiped, killed, 0));
        int before = load.waits().size();
        int clients = load.killed(node, () -> cluster.kill(node));
        if (wiped) {
            cluster.wipe(node);
        }
        load.awaitSessions(name);
        int found = clock.millis();
        load.awaitProgress(name + ", n" + node + " is away", MESSAGES);
        load.wake();
        load.awaitProgress(name + ", n" + node + " is away", MESSAGES);
        int started = clock.millis();
        cluster.start(node);
        if (!awaitHomes(cluster)) {
            load.fault(name + ": the stores are served by " + servers(cluster));
        }
        int back = clock.millis();
        rounds.set(round - 1, new Round(node, wiped, killed, back));
        load.isBack(node);
        load.wake();
        System.out.printf(
                Locale.ROOT,
                "[adoption] %s %s: n%d killed%s, %d of %d clients had their sessions after %d ms; started again, it served after "
                        + "%d ms; %d acknowledged%n",
                name,
                clock.text(killed),
                node,
                wiped ? ", disk wiped" : "",
                load.waits().size() - before,
                clients,
                found - killed,
                back - started,
                load.acknowledged());
    }

    /** Waits until each node serves its own store, and no node has seen another one serve it since. */
    private static boolean awaitHomes(ReplicatedCluster cluster) {
        try {
            await().atMost(PATIENCE)
                    .until(() -> IntStream.range(0, ReplicatedCluster.NODES)
                            .allMatch(node -> isHome("n" + node, cluster.servers(node))));
            return true;
        } catch (ConditionTimeoutException e) {
            return false;
        }
    }

    private static boolean isHome(String node, Map<String, String> servers) {
        return node.equals(servers.get(node))
                && servers.entrySet().stream().allMatch(each -> each.getKey().equals(each.getValue()));
    }

    private static List<String> servers(ReplicatedCluster cluster) {
        return IntStream.range(0, ReplicatedCluster.NODES)
                .mapToObj(node -> cluster.servers(node).toString())
                .toList();
    }

    private String roundAt(int millis) {
        for (int i = rounds.size() - 1; i >= 0; i--) {
            Round round = rounds.get(i);
            if (round.killedMillis <= millis) {
                return String.format(
                        Locale.ROOT,
                        "round %d (n%d killed %s, back %s)",
                        i + 1,
                        round.node,
                        clock.text(round.killedMillis),
                        round.backMillis == 0 ? "-" : clock.text(round.backMillis));
            }
        }
        return rounds.isEmpty() ? "round 0" : "before round 1 (" + clock.text(rounds.get(0).killedMillis) + ")";
    }

    private void report(AdoptionLoad load) {
        CampaignAccount account = load.account(this::roundAt);
        account.write(DIRECTORY.resolve("messages.txt"));
        account.lines().forEach(line -> System.out.println("[adoption] " + line));
        load.faults().forEach(fault -> System.out.println("[adoption] fault: " + fault));
        List<Integer> waits = load.waits();
        System.out.printf(
                Locale.ROOT,
                "[adoption] seed %d, rounds %d, disks wiped %d; %s; lost %d, twice at QoS 2 %d, out of order %d, repeated at QoS 1 %d, "
                        + "twice after a refusal %d, out of order after a refusal %d%n",
                seed,
                rounds.size(),
                rounds.stream().filter(Round::wiped).count(),
                load.figures(),
                account.count(CampaignAccount.Kind.LOST),
                account.count(CampaignAccount.Kind.TWICE),
                account.count(CampaignAccount.Kind.LATE),
                account.count(CampaignAccount.Kind.REPEATED),
                account.count(CampaignAccount.Kind.REFUSED_AND_TWICE),
                account.count(CampaignAccount.Kind.REFUSED_AND_LATE));
        if (!waits.isEmpty()) {
            System.out.printf(
                    Locale.ROOT,
                    "[adoption] from the kill to the session: %d times, median %d ms, longest %d ms, %d above %d ms%n",
                    waits.size(),
                    waits.get(waits.size() / 2),
                    waits.get(waits.size() - 1),
                    waits.stream().filter(wait -> wait > TARGET_MILLIS).count(),
                    TARGET_MILLIS);
        }
        assertThat(load.faults()).isEmpty();
        assertThat(load.lostSessions()).as("sessions that were not present").isZero();
        assertThat(account.isGood())
                .as("all messages came as they should, see " + DIRECTORY.resolve("messages.txt"))
                .isTrue();
    }
}
