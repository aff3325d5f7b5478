// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Networks that are cut for 30 s and healed, and a node that is killed, while clients of both sides publish at QoS 1 to stored
 * sessions of both sides. Prints its figures. Needs root.
 */
class ClusterPartitionProof {

    private static final Duration CUT = Duration.ofSeconds(Long.getLong("smqtt.cut.seconds", 30));
    private static final int CONTESTED = 10;
    private static final Duration POLL = Duration.ofMillis(20);
    private static final Duration PACE = Duration.ofMillis(5);
    private static final String STORED = """
            storage:
              kind: rocksdb
            limits:
              max-queued-messages: 1000000
              max-queued-bytes: 1000000000
            """;

    @TempDir
    Path directory;

    private static void say(String format, Object... values) {
        System.out.println("[cluster] " + String.format(Locale.ROOT, format, values));
    }

    @Test
    void twoAndOneGoOnAndMeetAgain() throws Exception {
        try (ClusterNetwork network = new ClusterNetwork(directory, 3, STORED)) {
            network.startAll();
            cutAndHeal(network, "2|1", List.of(new int[] {0, 2}, new int[] {1, 2}, new int[] {2, 0}, new int[] {2, 1}));
        }
    }

    @Test
    void oneThatHearsAndIsNotHeard() throws Exception {
        try (ClusterNetwork network = new ClusterNetwork(directory, 3, STORED)) {
            network.startAll();
            cutAndHeal(network, "one way between two", List.of(new int[] {2, 0}));
        }
    }

    private static void cutAndHeal(ClusterNetwork network, String name, List<int[]> ways) throws Exception {
        boolean apart = ways.size() > 1;
        Load load = new Load(network);
        load.begin();
        try (RawClient one = network.client(0, "one-side");
                RawClient other = network.client(2, "other-side");
                Contested contested = new Contested(network);
                Retained retained = new Retained(network)) {
            load.awaitProgress();
            int sessions = network.sessions();
            long began = System.nanoTime();
            ways.forEach(way -> network.forbid(way[0], way[1]));
            try {
                double noticed = secondsUntil(
                        began,
                        () -> !network.view(0).peer("n2").reachable()
                                || !network.view(2).peer("n0").reachable());
                say("%s: noticed after %.1f s", name, noticed);
                load.awaitProgress();
                load.awaitOwnSideServed();
                retain(one, "one side");
                retain(other, "other side");
                if (apart) {
                    contested.connectOnBothSides();
                }
                await().atMost(CUT.plusMinutes(2)).until(() -> System.nanoTime() - began >= CUT.toNanos());
                load.awaitProgress();
            } finally {
                ways.forEach(way -> network.permit(way[0], way[1]));
            }
            long healed = System.nanoTime();
            double[] seconds = new double[3];
            await().atMost(ClusterNetwork.PATIENCE).pollInterval(POLL).until(() -> {
                note(seconds, 0, healed, network::isTogether);
                note(seconds, 1, healed, retained::isEqual);
                note(seconds, 2, healed, () -> !apart || contested.haveOneOwnerEach());
                return seconds[0] * seconds[1] * seconds[2] > 0;
            });
            say("%s: together, with equal routes, %.1f s after the network", name, seconds[0]);
            say("%s: retained messages equal %.1f s after it", name, seconds[1]);
            if (apart) {
                say("%s: %d clients that were on both sides are on one %.1f s after it", name, CONTESTED, seconds[2]);
                await().atMost(ClusterNetwork.PATIENCE).until(() -> network.sessions() == sessions + CONTESTED);
                contested.expectEachOnce(one);
            }
            network.awaitEqualDigests();
            load.end(name);
        }
    }

    private static void note(double[] seconds, int index, long began, Callable<Boolean> condition) throws Exception {
        if (seconds[index] == 0 && condition.call()) {
            seconds[index] = (System.nanoTime() - began) / 1e9;
        }
    }

    private static void retain(RawClient client, String payload) {
        client.publish(PublishBytes.to("kept").payload(payload).qos(1).retained());
    }

    /** A client on each node that looks at the retained message again and again. */
    private static final class Retained implements AutoCloseable {

        private final List<RawClient> clients;

        Retained(ClusterNetwork network) {
            clients = IntStream.range(0, 3)
                    .mapToObj(node -> network.client(node, "looks-" + node))
                    .toList();
        }

        boolean isEqual() {
            return clients.stream().map(Retained::look).distinct().count() == 1;
        }

        private static String look(RawClient client) {
            client.subscribe("kept", 0);
            String text = client.expect(MqttMessageType.PUBLISH).text();
            client.unsubscribe("kept");
            return text;
        }

        @Override
        public void close() {
            clients.forEach(RawClient::close);
        }
    }

    /** Clients that connect on both sides of a cut. */
    private static final class Contested implements AutoCloseable {

        private final ClusterNetwork network;
        private final List<Guest> guests = new ArrayList<>();

        Contested(ClusterNetwork network) {
            this.network = network;
        }

        void connectOnBothSides() {
            for (int node : new int[] {0, 2}) {
                for (int i = 0; i < CONTESTED; i++) {
                    guests.add(new Guest(network.stored(node, "both-" + i), i));
                }
            }
            guests.forEach(Thread::start);
        }

        boolean haveOneOwnerEach() {
            return IntStream.range(0, CONTESTED)
                    .allMatch(i -> guests.stream()
                                    .filter(guest -> guest.number == i && guest.isConnected())
                                    .count()
                            == 1);
        }

        /** A message for each of them arrives once. */
        void expectEachOnce(RawClient publisher) {
            for (int i = 0; i < CONTESTED; i++) {
                publisher.publish("both/" + i, "x", 1);
            }
            await().atMost(ClusterNetwork.PATIENCE)
                    .until(() ->
                            guests.stream().mapToInt(guest -> guest.received).sum() >= CONTESTED);
            assertThat(haveOneOwnerEach()).isTrue();
            assertThat(guests.stream().filter(Guest::isConnected))
                    .allSatisfy(guest -> assertThat(guest.received).isEqualTo(1));
        }

        @Override
        public void close() {
            guests.forEach(guest -> guest.client.close());
        }
    }

    /** A connection that takes what comes, until it ends. */
    private static final class Guest extends Thread {

        private final RawClient client;
        private final int number;
        private volatile boolean ended;
        private volatile int received;

        Guest(RawClient client, int number) {
            this.client = client;
            this.number = number;
            client.subscribe("both/" + number, 1);
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                ReceivedPacket next = client.receive();
                while (next != null && next.type() == MqttMessageType.PUBLISH) {
                    received++;
                    client.acknowledge(0x40, next.packetId());
                    next = client.receive();
                }
            } finally {
                ended = true;
            }
        }

        boolean isConnected() {
            return !ended;
        }
    }

    /** A node that answers nothing, while its sockets stay open: only its silence tells. */
    @Test
    void aStoppedNodeIsNoticedAndGoesOn() throws Exception {
        try (ClusterNetwork network = new ClusterNetwork(directory, 3, STORED)) {
            network.startAll();
            Load load = new Load(network, 0, 1);
            load.begin();
            load.awaitProgress();
            long began = System.nanoTime();
            network.broker(2).signal("STOP");
            try {
                say(
                        "SIGSTOP: noticed after %.1f s",
                        secondsUntil(
                                began,
                                () -> !network.view(0).peer("n2").reachable()
                                        && !network.view(1).peer("n2").reachable()));
                load.awaitProgress();
            } finally {
                network.broker(2).signal("CONT");
            }
            long went = System.nanoTime();
            say(
                    "SIGSTOP: together again, with equal routes, %.1f s after SIGCONT",
                    secondsUntil(went, network::isTogether));
            network.awaitEqualDigests();
            load.end("SIGSTOP");
        }
    }

    @Test
    void aKilledNodeIsNoticedAndComesBack() throws Exception {
        try (ClusterNetwork network = new ClusterNetwork(directory, 3, STORED)) {
            network.startAll();
            Load load = new Load(network, 0, 1);
            load.begin();
            load.awaitProgress();
            long began = System.nanoTime();
            load.away(2);
            network.broker(2).kill9();
            say(
                    "kill -9: noticed after %.1f s",
                    secondsUntil(
                            began,
                            () -> !network.view(0).peer("n2").reachable()
                                    && !network.view(1).peer("n2").reachable()));
            load.awaitProgress();
            network.broker(2).close();
            began = System.nanoTime();
            network.start(2);
            load.back(2);
            say(
                    "kill -9: together again, with equal routes, %.1f s after its process began",
                    secondsUntil(began, network::isTogether));
            network.awaitEqualDigests();
            load.end("kill -9");
        }
    }

    private static double secondsUntil(long began, Callable<Boolean> condition) {
        await().atMost(ClusterNetwork.PATIENCE).pollInterval(POLL).until(condition);
        return (System.nanoTime() - began) / 1e9;
    }

    /** Publishers of two nodes, and for each of them a stored session on each of two nodes. */
    private static final class Load {

        private final ClusterNetwork network;
        private final List<PacedPublisher> publishers;
        private final List<Whereabouts> places = List.of(new Whereabouts(), new Whereabouts(), new Whereabouts());
        private final List<JournalSubscriber> subscribers;

        Load(ClusterNetwork network) {
            this(network, 0, 2);
        }

        Load(ClusterNetwork network, int one, int other) {
            this.network = network;
            publishers = List.of(
                    new PacedPublisher("from-one", network.address(one), PACE),
                    new PacedPublisher("from-other", network.address(other), PACE));
            subscribers = List.of(
                    new JournalSubscriber("a", "from-one", 1, places.get(0)),
                    new JournalSubscriber("b", "from-other", 1, places.get(0)),
                    new JournalSubscriber("c", "from-one", 1, places.get(2)),
                    new JournalSubscriber("d", "from-other", 1, places.get(2)));
        }

        void begin() {
            back(0);
            back(2);
            subscribers.forEach(Thread::start);
            await().atMost(ClusterNetwork.PATIENCE)
                    .until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
            network.awaitTogether();
            publishers.forEach(Thread::start);
        }

        void away(int node) {
            places.get(node).set(null);
        }

        void back(int node) {
            places.get(node).set(network.address(node));
        }

        /** Every publisher gets on, whatever is cut. */
        void awaitProgress() {
            for (PacedPublisher publisher : publishers) {
                int before = publisher.acknowledged();
                await().atMost(ClusterNetwork.PATIENCE)
                        .until(() -> publisher.acknowledged() > before + 50 || publisher.failure() != null);
                ClientFailures.assertNone(publisher, publisher.failure());
            }
        }

        /** Subscribers get what is published on their own side. */
        void awaitOwnSideServed() {
            for (JournalSubscriber subscriber : List.of(subscribers.get(0), subscribers.get(3))) {
                int before = subscriber.highest();
                await().atMost(ClusterNetwork.PATIENCE)
                        .until(() -> subscriber.highest() > before + 50 || subscriber.failure() != null);
                ClientFailures.assertNone(subscriber, subscriber.failure());
            }
        }

        void end(String name) throws InterruptedException {
            awaitProgress();
            publishers.forEach(PacedPublisher::finish);
            long began = System.nanoTime();
            for (JournalSubscriber subscriber : subscribers) {
                int count = sentTo(subscriber.topic());
                await().atMost(ClusterNetwork.PATIENCE)
                        .until(() -> subscriber.highest() == count - 1 || subscriber.failure() != null);
                ClientFailures.assertNone(subscriber, subscriber.failure());
            }
            double arrived = (System.nanoTime() - began) / 1e9;
            subscribers.forEach(JournalSubscriber::finish);
            network.close(0);
            network.close(2);
            int lost = 0;
            int twice = 0;
            for (JournalSubscriber subscriber : subscribers) {
                subscriber.join(ClusterNetwork.PATIENCE.toMillis());
                List<Integer> distinct =
                        subscriber.received().stream().distinct().toList();
                List<Integer> sent =
                        IntStream.range(0, sentTo(subscriber.topic())).boxed().toList();
                lost += (int) sent.stream()
                        .filter(number -> !distinct.contains(number))
                        .count();
                twice += subscriber.received().size() - distinct.size();
                assertThat(distinct).as(subscriber.getName()).isEqualTo(sent);
            }
            say(
                    "%s: %d and %d messages acknowledged, for 2 stored sessions each: %d lost, %d twice, the last there after %.1f s; "
                            + "longest wait for an acknowledgement %.1f and %.1f s",
                    name,
                    publishers.get(0).acknowledged(),
                    publishers.get(1).acknowledged(),
                    lost,
                    twice,
                    arrived,
                    publishers.get(0).longest().toMillis() / 1e3,
                    publishers.get(1).longest().toMillis() / 1e3);
        }

        private int sentTo(String topic) {
            return publishers.get(topic.equals("from-one") ? 0 : 1).acknowledged();
        }
    }
}
