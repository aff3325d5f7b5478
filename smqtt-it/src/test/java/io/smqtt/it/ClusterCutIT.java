// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Networks that lose packets in one direction or in both, between two nodes or around one node. Every node has a publisher at QoS 1 and
 * one at QoS 2, and for each of them a stored session. All publishers continue, everything is whole again soon after the cut, and nothing
 * is lost; nothing comes twice at QoS 2. Prints its figures. Needs root.
 *
 * <p>System properties: {@code smqtt.runs} cuts of each kind, {@code smqtt.cut.seconds} their length, {@code smqtt.cut} the kinds or ALL.
 */
class ClusterCutIT {

    private static final int NODES = 3;
    private static final int RUNS = Integer.getInteger("smqtt.runs", 1);
    private static final Duration CUT = Duration.ofSeconds(Integer.getInteger("smqtt.cut.seconds", 9));
    private static final String KINDS = System.getProperty("smqtt.cut", "NOT_HEARD_BY_THE_FIRST");
    private static final Duration PACE = Duration.ofMillis(20);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final double LONGEST_PAUSE = 10;
    private static final double LONGEST_HEALING = 10;
    private static final String STORED = """
            storage:
              kind: rocksdb
            limits:
              max-queued-messages: 1000000
              max-queued-bytes: 1000000000
            """;

    @TempDir
    Path directory;

    /** The ways that are cut: from one node to another. The first node to start is the coordinator. */
    private enum Cut {
        NOT_HEARD_BY_THE_FIRST(false, new int[] {2, 0}),
        DOES_NOT_HEAR_THE_FIRST(false, new int[] {0, 2}),
        BETWEEN_OTHERS(false, new int[] {1, 2}),
        NOT_HEARD_BY_ANY(false, new int[] {2, 0}, new int[] {2, 1}),
        FIRST_IS_NOT_HEARD_BY_ANY(false, new int[] {0, 1}, new int[] {0, 2}),
        REFUSED_TO_THE_FIRST(true, new int[] {2, 0}),
        REFUSED_BETWEEN_OTHERS(true, new int[] {2, 1}),
        BOTH_WAYS(false, new int[] {0, 2}, new int[] {1, 2}, new int[] {2, 0}, new int[] {2, 1});

        private final boolean refused;
        private final List<int[]> ways;

        Cut(boolean refused, int[]... ways) {
            this.refused = refused;
            this.ways = List.of(ways);
        }

        void begin(ClusterNetwork network) {
            for (int[] way : ways) {
                if (refused) {
                    network.forbid(way[0], way[1]);
                } else {
                    network.mute(way[0], way[1]);
                }
            }
        }

        void end(ClusterNetwork network) {
            for (int[] way : ways) {
                if (refused) {
                    network.permit(way[0], way[1]);
                } else {
                    network.unmute(way[0], way[1]);
                }
            }
        }
    }

    private static void say(String format, Object... values) {
        System.out.println("[cut] " + String.format(Locale.ROOT, format, values));
    }

    private static double secondsSince(long nanos) {
        return (System.nanoTime() - nanos) / 1e9;
    }

    @BeforeEach
    void requireNetworks() {
        assumeThat(ClusterNetwork.isAllowed())
                .as("networks can be made here, which takes root and ip")
                .isTrue();
    }

    private static Stream<Cut> kinds() {
        return KINDS.equals("ALL")
                ? Stream.of(Cut.values())
                : Stream.of(KINDS.split(",")).map(Cut::valueOf);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void theRestContinuesAndAllIsWholeAgain(Cut cut) throws InterruptedException {
        try (ClusterNetwork network = new ClusterNetwork(directory, NODES, STORED)) {
            network.startAll();
            Load load = new Load(network);
            load.begin();
            double pause = 0;
            double healing = 0;
            for (int i = 0; i < RUNS; i++) {
                load.awaitProgress();
                load.takePauses();
                long began = System.nanoTime();
                cut.begin(network);
                try {
                    await().atMost(CUT.plusMinutes(2)).until(() -> System.nanoTime() - began >= CUT.toNanos());
                    say("%s: %s", cut, reachable(network));
                } finally {
                    cut.end(network);
                }
                long ended = System.nanoTime();
                load.awaitWhole();
                double healed = secondsSince(ended);
                List<Double> pauses = load.takePauses();
                say(
                        "%s: longest waits for an acknowledgement %s s, whole again %.1f s after the cut",
                        cut, pauses, healed);
                pause = Math.max(
                        pause, pauses.stream().mapToDouble(value -> value).max().orElseThrow());
                healing = Math.max(healing, healed);
                network.awaitEqualDigests();
            }
            load.end(cut.name());
            assertThat(pause).as("seconds without an acknowledgement").isLessThan(LONGEST_PAUSE);
            assertThat(healing).as("seconds until all is whole").isLessThan(LONGEST_HEALING);
        }
    }

    private static String reachable(ClusterNetwork network) {
        List<String> pairs = new ArrayList<>();
        for (int node = 0; node < NODES; node++) {
            for (int other = 0; other < NODES; other++) {
                if (node != other && network.reaches(node, other)) {
                    pairs.add("n" + node + ">n" + other);
                }
            }
        }
        return "reachable before its end: " + String.join(" ", pairs);
    }

    /** Publishers on all nodes, and for each of them a stored session on each node. */
    private static final class Load {

        private final ClusterNetwork network;
        private final List<PacedPublisher> publishers = new ArrayList<>();
        private final List<JournalSubscriber> subscribers = new ArrayList<>();

        Load(ClusterNetwork network) {
            this.network = network;
            List<Whereabouts> places = IntStream.range(0, NODES)
                    .mapToObj(node -> new Whereabouts())
                    .toList();
            for (int node = 0; node < NODES; node++) {
                places.get(node).set(network.address(node));
                for (int qos = 1; qos <= 2; qos++) {
                    String topic = "n" + node + "-qos" + qos;
                    publishers.add(new PacedPublisher(topic, qos, network.address(node), PACE));
                    for (int place = 0; place < NODES; place++) {
                        subscribers.add(new JournalSubscriber(topic + "-at-n" + place, topic, qos, places.get(place)));
                    }
                }
            }
        }

        void begin() {
            subscribers.forEach(Thread::start);
            await().atMost(ClusterNetwork.PATIENCE)
                    .until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
            network.awaitTogether();
            publishers.forEach(Thread::start);
        }

        void awaitProgress() {
            for (PacedPublisher publisher : publishers) {
                int before = publisher.acknowledged();
                await().atMost(ClusterNetwork.PATIENCE)
                        .until(() -> publisher.acknowledged() > before + 20 || publisher.failure() != null);
                ClientFailures.assertNone(publisher, publisher.failure());
            }
        }

        /** The longest wait of each publisher since the last call, in seconds. */
        List<Double> takePauses() {
            return publishers.stream()
                    .map(publisher -> publisher.takeLongest().toMillis() / 1e3)
                    .toList();
        }

        /** All nodes reach each other, and have everything that was acknowledged before. */
        void awaitWhole() {
            int[] sent =
                    publishers.stream().mapToInt(PacedPublisher::acknowledged).toArray();
            await().atMost(ClusterNetwork.PATIENCE).pollInterval(POLL).until(network::isTogether);
            for (JournalSubscriber subscriber : subscribers) {
                int count = sent[publisherOf(subscriber)];
                await().atMost(ClusterNetwork.PATIENCE)
                        .pollInterval(POLL)
                        .until(() -> subscriber.highest() >= count - 1 || subscriber.failure() != null);
                ClientFailures.assertNone(subscriber, subscriber.failure());
            }
        }

        private int publisherOf(JournalSubscriber subscriber) {
            return IntStream.range(0, publishers.size())
                    .filter(i -> publishers.get(i).topic().equals(subscriber.topic()))
                    .findFirst()
                    .orElseThrow();
        }

        void end(String name) throws InterruptedException {
            awaitProgress();
            publishers.forEach(PacedPublisher::finish);
            awaitWhole();
            subscribers.forEach(JournalSubscriber::finish);
            IntStream.range(0, NODES).forEach(network::close);
            int acknowledged = 0;
            int lost = 0;
            int twice = 0;
            for (JournalSubscriber subscriber : subscribers) {
                subscriber.join(ClusterNetwork.PATIENCE.toMillis());
                int sent = publishers.get(publisherOf(subscriber)).acknowledged();
                List<Integer> distinct =
                        subscriber.received().stream().distinct().toList();
                int repeated = subscriber.received().size() - distinct.size();
                acknowledged += sent;
                lost += sent - distinct.size();
                twice += repeated;
                assertThat(distinct)
                        .as(subscriber.getName())
                        .isEqualTo(IntStream.range(0, sent).boxed().toList());
                if (subscriber.qos() == 2) {
                    assertThat(repeated)
                            .as("repeated for %s", subscriber.getName())
                            .isZero();
                }
            }
            say(
                    "%s: %d deliveries, %d lost, %d twice, all of these at QoS 1; %d reconnects of publishers",
                    name,
                    acknowledged,
                    lost,
                    twice,
                    publishers.stream().mapToInt(PacedPublisher::reconnects).sum());
        }
    }
}
