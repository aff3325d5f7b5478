// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Three nodes with {@code storage.replicas: 3} under load. In each round nodes fail in one of the ways of {@link AdoptionFailure}, their clients go to the
 * others, and they return. At the end all subscribers take what waits for them, and the account is made: nothing that was acknowledged is lost, QoS 2
 * comes once, the order of each publisher and topic is kept, and each client finds its session.
 *
 * <p>{@code -Dsmqtt.adoption.rounds=10}, {@code -Dsmqtt.adoption.kinds=kill,freeze,cut,two,graceful} (each of them once in as many rounds, in an order
 * by the seed; without root all but cuts; {@code slow} and {@code clock} only if they are named), {@code -Dsmqtt.adoption.wipe=10} (the disk is wiped at each tenth kill of one node),
 * {@code -Dsmqtt.adoption.shortest=20} and {@code longest=60} (seconds of a freeze or cut; a freeze takes 40 at most), {@code -Dsmqtt.adoption.rate=500}
 * (messages a second), {@code -Dsmqtt.seed}. The logs of the nodes and a line for each message that did not come as it should stay in
 * {@code target/adoption}.
 */
class AdoptionProof {

    private static final int ROUNDS = Integer.getInteger("smqtt.adoption.rounds", 10);
    private static final int WIPE = Integer.getInteger("smqtt.adoption.wipe", 10);
    private static final int RATE = Integer.getInteger("smqtt.adoption.rate", 500);
    private static final int MESSAGES = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Path DIRECTORY = Path.of("target", "adoption").toAbsolutePath();

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final CampaignClock clock = new CampaignClock();

    @Test
    void clientsOfFailedNodesFindTheirSessionsAndNothingIsLost() throws IOException {
        List<AdoptionFailure> kinds = kinds();
        System.out.println("[adoption] seed " + seed + ", " + kinds + ", " + DIRECTORY);
        clear();
        try (NodeSpaces spaces = kinds.contains(AdoptionFailure.CUT) ? new NodeSpaces(ReplicatedCluster.NODES) : null;
                ReplicatedCluster cluster = ReplicatedCluster.start(DIRECTORY, spaces)) {
            await().atMost(PATIENCE).until(cluster::isHome);
            AdoptionLoad load = new AdoptionLoad(cluster, clock, random, RATE);
            AdoptionRounds rounds = new AdoptionRounds(cluster, spaces, load, clock, random, WIPE);
            load.begin();
            try {
                List<AdoptionFailure> next = new ArrayList<>();
                for (int round = 0; round < ROUNDS; round++) {
                    if (next.isEmpty()) {
                        next.addAll(kinds);
                        Collections.shuffle(next, random);
                    }
                    rounds.run(next.remove(0));
                }
                load.awaitProgress("the end", MESSAGES);
            } catch (RuntimeException | AssertionError e) { // what came so far counts
                load.fault("the campaign has ended: " + e);
            }
            load.drain();
            report(load, rounds);
        }
    }

    private static List<AdoptionFailure> kinds() {
        String names = System.getProperty("smqtt.adoption.kinds");
        if (names != null) {
            return AdoptionFailure.of(names);
        }
        List<AdoptionFailure> all = new ArrayList<>(AdoptionFailure.USUAL);
        if (!NodeSpaces.isAllowed()) {
            all.remove(AdoptionFailure.CUT);
        }
        return all;
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

    private void report(AdoptionLoad load, AdoptionRounds rounds) {
        CampaignAccount account = load.account(rounds::roundAt);
        account.write(DIRECTORY.resolve("messages.txt"));
        account.lines().forEach(line -> System.out.println("[adoption] " + line));
        load.notFound().forEach(line -> System.out.println("[adoption] no session: " + line));
        load.faults().forEach(fault -> System.out.println("[adoption] fault: " + fault));
        System.out.printf(
                Locale.ROOT,
                "[adoption] seed %d, %s; %s; lost %d, twice at QoS 2 %d, out of order %d, repeated at QoS 1 %d, "
                        + "twice after a refusal %d, out of order after a refusal %d%n",
                seed,
                rounds.figures(),
                load.figures(),
                account.count(CampaignAccount.Kind.LOST),
                account.count(CampaignAccount.Kind.TWICE),
                account.count(CampaignAccount.Kind.LATE),
                account.count(CampaignAccount.Kind.REPEATED),
                account.count(CampaignAccount.Kind.REFUSED_AND_TWICE),
                account.count(CampaignAccount.Kind.REFUSED_AND_LATE));
        rounds.times().forEach(line -> System.out.println("[adoption] " + line));
        assertThat(load.faults()).isEmpty();
        assertThat(load.lostSessions()).as("sessions that were not present").isZero();
        assertThat(account.isGood())
                .as("all messages came as they should, see " + DIRECTORY.resolve("messages.txt"))
                .isTrue();
    }
}
