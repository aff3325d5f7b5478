// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static java.util.Objects.requireNonNull;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The rounds of a campaign with adoption: in each one nodes fail, their clients go to the others, and the nodes return. A node whose
 * {@code /health/live} fails is started again, as a supervisor does. Used by one thread.
 */
final class AdoptionRounds {

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final int SUPERVISOR_MILLIS = 200;
    private static final int MESSAGES = 100;
    private static final int TARGET_MILLIS = 5_000;
    private static final int LONGEST_START_MILLIS = 500;

    /** Of a freeze and of a cut; both are longer than the others need to notice them. */
    private static final int SHORTEST_SECONDS = Integer.getInteger("smqtt.adoption.shortest", 20);

    private static final int LONGEST_FREEZE_SECONDS = Math.min(40, Integer.getInteger("smqtt.adoption.longest", 40));
    private static final int LONGEST_CUT_SECONDS = Integer.getInteger("smqtt.adoption.longest", 60);

    private static final int SYNC_DELAY_MICROS = 200_000;
    private static final List<String> CLOCKS = List.of("+5m", "-5m", "");

    /** From one kill to the other. */
    private static final int SHORTEST_BETWEEN_MILLIS = 100;

    private static final int LONGEST_BETWEEN_MILLIS = 5_000;

    /** A node without a majority refuses after this time at the latest. */
    private static final int REFUSES_MILLIS = 2_000;

    private static final int LONGEST_ALONE_MILLIS = 8_000;

    private final ReplicatedCluster cluster;
    private final @Nullable NodeSpaces spaces;
    private final AdoptionLoad load;
    private final CampaignClock clock;
    private final Random random;
    private final int wipeEach;
    private final List<Round> rounds = new ArrayList<>();
    private int kills;
    private int wiped;
    private int restarts;

    /** A round, with the moments that are known so far; 0 for those that are not. */
    private static final class Round {

        private final int number;
        private final AdoptionFailure kind;
        private final int node;
        private final int fromMillis;
        private int noticedMillis; // from which on sessions are to be found soon
        private int backMillis;

        Round(int number, AdoptionFailure kind, int node, int fromMillis) {
            this.number = number;
            this.kind = kind;
            this.node = node;
            this.fromMillis = fromMillis;
            this.noticedMillis = fromMillis;
        }

        @Override
        public String toString() {
            return "round " + number + ", " + kind + " n" + node;
        }
    }

    /**
     * Creates the rounds of a campaign.
     *
     * @param spaces for cuts only
     * @param wipeEach each so many kills the disk of the node is wiped
     */
    AdoptionRounds(
            ReplicatedCluster cluster,
            @Nullable NodeSpaces spaces,
            AdoptionLoad load,
            CampaignClock clock,
            Random random,
            int wipeEach) {
        this.cluster = cluster;
        this.spaces = spaces;
        this.load = load;
        this.clock = clock;
        this.random = random;
        this.wipeEach = wipeEach;
    }

    /** Lets nodes fail, and waits until each serves its own store again. */
    void run(AdoptionFailure kind) {
        String name = "round " + (rounds.size() + 1);
        load.doze();
        load.wander();
        load.awaitProgress(name, MESSAGES);
        pause(1, LONGEST_START_MILLIS);
        int node = random.nextInt(ReplicatedCluster.NODES);
        Round round = new Round(rounds.size() + 1, kind, node, clock.millis());
        rounds.add(round);
        say(round, "begins");
        switch (kind) {
            case KILL -> kill(round);
            case FREEZE -> freeze(round);
            case CUT -> cutOff(round);
            case TWO -> two(round);
            case GRACEFUL -> stop(round);
            case SLOW -> slowDisk(round);
            case CLOCK -> clock(round);
        }
        load.wake();
        say(round, "is over, %d acknowledged", load.acknowledged());
    }

    private void kill(Round round) {
        int clients = load.killed(round.node, () -> cluster.kill(round.node));
        if (++kills % wipeEach == 0) {
            cluster.wipe(round.node);
            wiped++;
            say(round, "disk wiped");
        }
        absence(round, clients);
    }

    private void stop(Round round) {
        int clients = load.stopped(round.node, () -> cluster.terminate(round.node));
        awaitEnd(round, round.node);
        absence(round, clients);
    }

    /** The clients of a node that has ended find their sessions at the others, until it is started again and serves them. */
    private void absence(Round round, int clients) {
        awaitSessions(round, clients);
        awaitProgressWithout(round);
        startAgain(round, round.node);
        awaitHomes(round, List.of(round.node));
        load.isBack(round.node);
    }

    private void freeze(Round round) {
        BrokerProcess broker = cluster.broker(round.node);
        int clients = load.silenced(round.node, () -> broker.signal("STOP"), false);
        try {
            awaitNoticed(round);
            awaitSessions(round, clients);
            awaitProgressWithout(round);
            pauseUntil(round.fromMillis + millis(SHORTEST_SECONDS, LONGEST_FREEZE_SECONDS));
        } finally {
            broker.signal("CONT");
        }
        say(round, "woken");
        awaitHomes(round, List.of(round.node));
        load.isBack(round.node);
    }

    private void cutOff(Round round) {
        NodeSpaces networks = requireNonNull(spaces, "a cut needs networks");
        int clients = load.silenced(round.node, () -> networks.isolate(round.node), true);
        try {
            awaitNoticed(round);
            pause(REFUSES_MILLIS, REFUSES_MILLIS);
            int before = load.acknowledgedAt(round.node);
            awaitSessions(round, clients);
            awaitProgressWithout(round);
            pauseUntil(round.fromMillis + millis(SHORTEST_SECONDS, LONGEST_CUT_SECONDS));
            requireNothing(round, load.acknowledgedAt(round.node) - before);
        } finally {
            networks.rejoin(round.node);
        }
        say(round, "joined again");
        awaitHomes(round, List.of(round.node));
        load.isBack(round.node);
    }

    /** Its clients stay: they wait longer. */
    private void slowDisk(Round round) {
        String delay = "inject=fdatasync,fsync:delay_enter=" + SYNC_DELAY_MICROS;
        List<String> command = List.of(
                ForeignProgram.path("strace"),
                "-f",
                "-p",
                Long.toString(cluster.broker(round.node).handle().pid()),
                "-e",
                "trace=fdatasync,fsync",
                "-e",
                delay,
                "-o",
                "/dev/null");
        try (CapturedProcess strace = CapturedProcess.start("strace", new ProcessBuilder(command))) {
            strace.awaitLine("the begin", line -> line.contains("attached"), PATIENCE);
            pauseUntil(round.fromMillis + millis(SHORTEST_SECONDS, LONGEST_FREEZE_SECONDS));
            strace.terminate();
            strace.awaitExit(PATIENCE);
        }
        awaitHomes(round, List.of(round.node));
    }

    private void clock(Round round) {
        String step = CLOCKS.get(random.nextInt(CLOCKS.size()));
        int clients = load.killed(round.node, () -> cluster.kill(round.node));
        cluster.clock(round.node, step);
        say(round, "its clock is changed to %s", step.isEmpty() ? "that of the machine" : step);
        absence(round, clients);
    }

    private void two(Round round) {
        int clients = load.killed(round.node, () -> cluster.kill(round.node));
        int second = second(round.node);
        int third = ReplicatedCluster.NODES - round.node - second; // 0, 1 and 2
        clients += load.killed(second, () -> cluster.kill(second));
        say(round, "n%d killed, too; n%d is alone", second, third);
        pause(REFUSES_MILLIS, REFUSES_MILLIS);
        int before = load.acknowledged();
        pause(1, LONGEST_ALONE_MILLIS);
        requireNothing(round, load.acknowledged() - before);
        List<Integer> order = random.nextBoolean() ? List.of(round.node, second) : List.of(second, round.node);
        CompletableFuture<Void> first = CompletableFuture.runAsync(() -> startAgain(round, order.get(0)), THREADS);
        if (random.nextBoolean()) {
            first.join();
        }
        pause(1, LONGEST_BETWEEN_MILLIS);
        startAgain(
                round,
                order.get(1)); // until then the sessions of the first one stay there, because the second one may have
        // parked messages for them
        first.join();
        round.noticedMillis = clock.millis();
        awaitHomes(round, order);
        order.forEach(load::isBack);
        awaitSessions(round, clients);
    }

    /** Waits a moment, or until another node serves the store of the first one; returns the node that is killed then. */
    private int second(int first) {
        List<Integer> others = others(first);
        int any = others.get(random.nextInt(others.size()));
        if (random.nextBoolean()) {
            pause(SHORTEST_BETWEEN_MILLIS, LONGEST_BETWEEN_MILLIS);
            return any;
        }
        String home = "n" + first;
        if (!isSoon(() -> !home.equals(cluster.servers(any).getOrDefault(home, home)))) {
            return any;
        }
        return Integer.parseInt(
                cluster.servers(any).getOrDefault(home, "n" + any).substring(1));
    }

    private static List<Integer> others(int node) {
        return IntStream.range(0, ReplicatedCluster.NODES)
                .filter(other -> other != node)
                .boxed()
                .toList();
    }

    private void awaitNoticed(Round round) {
        if (!isSoon(() -> others(round.node).stream().anyMatch(other -> !cluster.reaches(other, round.node)))) {
            fault(round, "the others have not noticed it");
        }
        round.noticedMillis = clock.millis();
        say(round, "noticed after %d ms", round.noticedMillis - round.fromMillis);
    }

    private void awaitSessions(Round round, int clients) {
        load.awaitSessions(round.toString());
        say(round, "%d clients had their sessions after %d ms", clients, clock.millis() - round.fromMillis);
    }

    private void awaitProgressWithout(Round round) {
        load.awaitProgress(round + " is away", MESSAGES);
        load.wake();
        load.awaitProgress(round + " is away", MESSAGES);
    }

    private void requireNothing(Round round, int acknowledged) {
        if (acknowledged > 0) {
            fault(round, acknowledged + " messages acknowledged without a majority");
        }
    }

    private void awaitEnd(Round round, int node) {
        int before = clock.millis();
        if (!cluster.awaitEnd(node)) {
            fault(round, "n" + node + " did not stop");
        }
        say(round, "n%d stopped within %d ms", node, clock.millis() - before);
    }

    private void startAgain(Round round, int node) {
        int before = clock.millis();
        cluster.start(node);
        say(round, "n%d started within %d ms", node, clock.millis() - before);
    }

    /** Waits until each node serves its own store, and no node sees another one serve it. Nodes that have to be started again are. */
    private void awaitHomes(Round round, List<Integer> failed) {
        int before = clock.millis();
        while (!cluster.isHome()) {
            if (clock.millis() - before > PATIENCE.toMillis()) {
                fault(
                        round,
                        "the stores are served by "
                                + IntStream.range(0, ReplicatedCluster.NODES)
                                        .mapToObj(cluster::servers)
                                        .toList());
                break;
            }
            for (int node = 0; node < ReplicatedCluster.NODES; node++) {
                if (!cluster.isLive(node)) {
                    restart(round, node);
                    if (!failed.contains(node)) {
                        fault(round, "n" + node + " had to be started again, too");
                    }
                }
            }
            pause(SUPERVISOR_MILLIS, SUPERVISOR_MILLIS);
        }
        round.backMillis = clock.millis();
        say(round, "all nodes served their stores after %d ms", round.backMillis - before);
    }

    private void restart(Round round, int node) {
        restarts++;
        say(round, "/health/live of n%d fails", node);
        cluster.terminate(node);
        awaitEnd(round, node);
        startAgain(round, node);
    }

    private static boolean isSoon(BooleanSupplier condition) {
        long endNanos = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - endNanos > 0) {
                return false;
            }
            pauseMillis(20);
        }
        return true;
    }

    private int millis(int shortestSeconds, int longestSeconds) {
        return shortestSeconds * 1_000 + random.nextInt(Math.max(1, (longestSeconds - shortestSeconds) * 1_000));
    }

    private void pause(int shortestMillis, int longestMillis) {
        pauseMillis(shortestMillis + random.nextInt(longestMillis - shortestMillis + 1));
    }

    private void pauseUntil(int millis) {
        pauseMillis(Math.max(1, millis - clock.millis()));
    }

    private static void pauseMillis(int millis) {
        await().pollDelay(Duration.ofMillis(millis)).atMost(PATIENCE).until(() -> true);
    }

    private void fault(Round round, String text) {
        load.fault(round + ": " + text);
    }

    private void say(Round round, String format, Object... values) {
        System.out.println("[adoption] " + clock.text(clock.millis()) + " " + round + ": "
                + String.format(Locale.ROOT, format, values));
    }

    /** The round of a moment, for people. */
    String roundAt(int millis) {
        Round round = at(millis);
        if (round == null) {
            return "before round 1";
        }
        return String.format(
                Locale.ROOT,
                "%s (failed %s, back %s)",
                round,
                clock.text(round.fromMillis),
                round.backMillis == 0 ? "-" : clock.text(round.backMillis));
    }

    private @Nullable Round at(int millis) {
        for (int i = rounds.size() - 1; i >= 0; i--) {
            if (rounds.get(i).fromMillis <= millis) {
                return rounds.get(i);
            }
        }
        return null;
    }

    /** The number of rounds, of each kind. */
    String figures() {
        Map<AdoptionFailure, Integer> kinds = new EnumMap<>(AdoptionFailure.class);
        rounds.forEach(round -> kinds.merge(round.kind, 1, Integer::sum));
        return String.format(
                Locale.ROOT,
                "rounds %d %s, disks wiped %d, nodes started again by their supervisor %d",
                rounds.size(),
                kinds,
                wiped,
                restarts);
    }

    /** The times until sessions were found, of each kind of failure, from the moment at which it could be known. */
    List<String> times() {
        Map<AdoptionFailure, List<Integer>> byKind = new EnumMap<>(AdoptionFailure.class);
        for (Journey.Wait wait : load.waits()) {
            Round round = at(wait.fromMillis());
            if (round != null) {
                int since = Math.max(wait.fromMillis(), round.noticedMillis);
                byKind.computeIfAbsent(round.kind, kind -> new ArrayList<>()).add(Math.max(0, wait.toMillis() - since));
            }
        }
        return byKind.entrySet().stream().map(AdoptionRounds::text).toList();
    }

    private static String text(Map.Entry<AdoptionFailure, List<Integer>> kind) {
        List<Integer> times = kind.getValue().stream().sorted().toList();
        return String.format(
                Locale.ROOT,
                "%s: from %s to the session: %d times, median %d ms, 99 %% %d ms, longest %d ms, %d above %d ms",
                kind.getKey(),
                switch (kind.getKey()) {
                    case KILL, CLOCK -> "the kill";
                    case FREEZE, CUT -> "the moment at which the others noticed it";
                    case TWO -> "the return of the first node";
                    case GRACEFUL -> "the end of the connection";
                    case SLOW -> "its begin";
                },
                times.size(),
                times.get(times.size() / 2),
                times.get((times.size() * 99 + 99) / 100 - 1),
                times.get(times.size() - 1),
                times.stream().filter(time -> time > TARGET_MILLIS).count(),
                TARGET_MILLIS);
    }
}
