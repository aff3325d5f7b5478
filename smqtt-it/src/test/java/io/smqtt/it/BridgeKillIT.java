// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The ends of a bridge are killed under load. What the publishers' broker has acknowledged reaches the subscribers of the other one: at QoS 1
 * at least once, at QoS 2 exactly once. {@code -Dsmqtt.bridge.kill.seconds=180} makes it long, {@code -Dsmqtt.bridge.kill.end=here} or
 * {@code there} kills only the end that connects or the other one, {@code -Dsmqtt.bridge.kill.direction=in} sends to the end that connects.
 *
 * <p>With {@code -Dsmqtt.bridge.kill.there=mosquitto} or {@code hivemq} the end that is dialled is such a broker, with {@code -Dsmqtt.bridge.kill.here=mosquitto}
 * the one that dials. A mosquitto acknowledges messages before it has saved them, also with {@code autosave_on_changes}. If another broker is killed, its
 * own losses are counted, and what is on the wire decides: nothing else may be lost, also none that it has refused with reason 0x97 after a
 * restart. It can give the packet identifier of a message of QoS 2 that it has forgotten to another one, which is lost. This broker sends in order whatever is killed, and passes on in order what comes so. {@code -Dsmqtt.bridge.kill.mosquitto.queued=0} is
 * mosquitto's {@code max_queued_messages}. {@code -Dsmqtt.bridge.kill.mosquitto.changes=1} is the number of changes after which it saves its whole state.
 * {@code -Dsmqtt.bridge.kill.trace=FILE} writes what passes between the two, and the log of a mosquitto.
 */
class BridgeKillIT {

    private static final String SMQTT = "smqtt";
    private static final String MOSQUITTO = "mosquitto";
    private static final int SECONDS = Integer.getInteger("smqtt.bridge.kill.seconds", 1);
    private static final int LONGEST_MILLIS = SECONDS < 30 ? 300 : 7_000;
    private static final List<String> ENDS = list("smqtt.bridge.kill.end", "both");
    private static final List<String> DIRECTIONS = list("smqtt.bridge.kill.direction", "out");
    private static final String HERE = System.getProperty("smqtt.bridge.kill.here", SMQTT);
    private static final String THERE = System.getProperty("smqtt.bridge.kill.there", SMQTT);
    private static final String MOST_QUEUED = System.getProperty("smqtt.bridge.kill.mosquitto.queued", "10000000");
    private static final int CHANGES = Integer.getInteger("smqtt.bridge.kill.mosquitto.changes", 1);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Two publishers: 2,000 messages a second, which is more than a mosquitto takes that saves after each change. */
    private static final Duration PACE =
            Duration.ofNanos(1_000_000_000L / Integer.getInteger("smqtt.bridge.kill.rate", 1_000));

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private int kills;

    @TempDir
    Path directory;

    /**
     * A campaign.
     *
     * @param direction {@code out} or {@code in}
     * @param end the end that is killed: {@code here}, {@code there} or {@code both} in turn
     */
    private record Campaign(String direction, String end) {

        @Override
        public String toString() {
            return HERE + " connects to " + THERE + ", " + direction + ", killed: " + end;
        }

        String name() {
            return HERE + '-' + THERE + '-' + direction + '-' + end;
        }

        boolean isOut() {
            return direction.equals("out");
        }

        private boolean kills(String which) {
            return end.equals("both") || end.equals(which);
        }

        /** Whether this broker sends. */
        boolean isFromUs() {
            return (isOut() ? HERE : THERE).equals(SMQTT);
        }

        /** Whether another broker that sends is killed. */
        boolean killsForeignSender() {
            return isOut() ? !HERE.equals(SMQTT) && kills("here") : !THERE.equals(SMQTT) && kills("there");
        }

        /** Whether another broker that receives is killed. */
        boolean killsForeignReceiver() {
            return isOut() ? !THERE.equals(SMQTT) && kills("there") : !HERE.equals(SMQTT) && kills("here");
        }
    }

    static Stream<Campaign> campaigns() {
        return DIRECTIONS.stream().flatMap(direction -> ENDS.stream().map(end -> new Campaign(direction, end)));
    }

    private static List<String> list(String property, String byDefault) {
        return List.of(System.getProperty(property, byDefault).split(","));
    }

    @ParameterizedTest
    @MethodSource("campaigns")
    void nothingIsLostBetweenTwoBrokersThatAreKilledInTurn(Campaign campaign) throws Exception {
        List<Integer> ports = LoopbackPorts.some(2);
        try (BridgeTap tap = new BridgeTap(ports.get(1), HERE.equals(SMQTT), campaign.name());
                BridgeEnd there = dialled(ports.get(1));
                BridgeEnd here = dialling(campaign, ports.get(0), tap.port())) {
            Whereabouts from = (campaign.isOut() ? here : there).clients();
            Whereabouts to = (campaign.isOut() ? there : here).clients();
            List<JournalPublisher> publishers =
                    List.of(new JournalPublisher("one", 1, from, PACE), new JournalPublisher("two", 2, from, PACE));
            List<JournalSubscriber> subscribers =
                    List.of(new JournalSubscriber("one", "one", 1, to), new JournalSubscriber("two", "two", 2, to));
            there.start();
            here.start();
            subscribers.forEach(Thread::start);
            await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
            await().atMost(PATIENCE).until(() -> tap.connections() > 0);
            publishers.forEach(Thread::start);
            long end = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
            while (System.nanoTime() < end || kills < 2) {
                awaitProgress(publishers, subscribers);
                await().pollDelay(Duration.ofMillis(1 + random.nextInt(LONGEST_MILLIS)))
                        .atMost(PATIENCE)
                        .until(() -> true);
                kills++;
                boolean first = campaign.end.equals("here") || campaign.end.equals("both") && kills % 2 == 1;
                BridgeEnd next = first ? here : there;
                next.kill();
                next.start();
            }
            awaitProgress(publishers, subscribers);
            finish(publishers, subscribers);
            System.out.printf(
                    "%s, kills %d, seed %d, connections %d, of them %d without a session, with an identifier in use %d, errors %s%n",
                    campaign, kills, seed, tap.connections(), tap.newSessions(), tap.takenForAnother(), tap.reasons());
            here.output().filter(line -> line.contains("bridge next")).forEach(System.out::println);
            for (int i = 0; i < publishers.size(); i++) {
                check(campaign, publishers.get(i), subscribers.get(i), tap);
            }
            if (tap.newSessions() == 1 && campaign.isFromUs()) {
                assertThat(tap.begunAgain())
                        .as("messages that the bridge has begun again")
                        .isZero();
            }
        }
    }

    private BridgeEnd dialling(Campaign campaign, int port, int remotePort) throws Exception {
        if (HERE.equals(MOSQUITTO)) {
            return mosquitto("one", port, """
                    max_inflight_messages %d
                    connection next
                    address 127.0.0.1:%d
                    remote_clientid plant
                    local_clientid local.plant
                    cleansession false
                    notifications false
                    restart_timeout 1
                    topic one %s 1
                    topic two %s 2
                    """.formatted(
                            2 * JournalClient.WINDOW, // it ends connections of clients that exceed it
                            remotePort,
                            campaign.direction,
                            campaign.direction));
        }
        return smqtt("one", port, """
                bridges:
                  next:
                    addresses: [127.0.0.1:%d]
                    client-id: plant
                    min-delay: 50ms
                    max-delay: 500ms
                    max-queued-messages: 10000000
                    max-queued-bytes: 1GiB
                    topics: [one %s 1, two %s 2]
                """.formatted(remotePort, campaign.direction, campaign.direction));
    }

    private BridgeEnd dialled(int port) throws Exception {
        return switch (THERE) {
            case SMQTT -> smqtt("two", port, "");
            case MOSQUITTO -> mosquitto("two", port, "");
            case "hivemq" -> BridgeEnd.hivemq(Files.createDirectories(directory.resolve("two")), port);
            default -> throw new IllegalArgumentException(THERE);
        };
    }

    private BridgeEnd smqtt(String name, int port, String bridges) throws Exception {
        return BridgeEnd.smqtt(directory.resolve(name), port, bridges);
    }

    /**
     * By default it saves its state after each pass of its loop in which a message has come or gone. Debian's 2.0.11 ends the connection after
     * each message that it refuses if {@code max_queued_messages} is 0.
     */
    private BridgeEnd mosquitto(String name, int port, String bridges) throws Exception {
        Path folder = Files.createDirectories(directory.resolve(name));
        String user = System.getProperty("user.name").equals("root") ? "user root\n" : "";
        Path file = Files.writeString(
                folder.resolve("mosquitto.conf"),
                user + """
                listener %d 127.0.0.1
                allow_anonymous true
                max_queued_messages %s
                persistence true
                persistence_location %s/
                autosave_on_changes true
                autosave_interval %d
                """.formatted(port, MOST_QUEUED, folder, CHANGES) + log(name) + bridges);
        return BridgeEnd.mosquitto(file, port);
    }

    private static String log(String name) {
        String trace = System.getProperty("smqtt.bridge.kill.trace", "");
        return trace.isEmpty()
                ? ""
                : "log_type all%nlog_timestamp_format %%H:%%M:%%S%nlog_dest file %s%n"
                        .formatted(Path.of(trace + "-mosquitto-" + name).toAbsolutePath());
    }

    /** Messages arrive at the far end, and no client has found anything wrong. */
    private static void awaitProgress(List<JournalPublisher> publishers, List<JournalSubscriber> subscribers) {
        for (int i = 0; i < subscribers.size(); i++) {
            JournalSubscriber subscriber = subscribers.get(i);
            int before = subscriber.highest();
            await(subscriber.getName() + " has message " + before + ", its publisher "
                            + publishers.get(i).acknowledged() + " acknowledgements")
                    .atMost(PATIENCE)
                    .until(() -> subscriber.highest() > before + JournalClient.WINDOW || subscriber.failure() != null);
            ClientFailures.assertNone(subscriber, subscriber.failure());
        }
        publishers.forEach(publisher -> ClientFailures.assertNone(publisher, publisher.failure()));
    }

    private static void finish(List<JournalPublisher> publishers, List<JournalSubscriber> subscribers) {
        publishers.forEach(JournalPublisher::lastOne);
        for (int i = 0; i < publishers.size(); i++) {
            JournalPublisher publisher = publishers.get(i);
            await().atMost(PATIENCE).until(() -> !publisher.isAlive());
            ClientFailures.assertNone(publisher, publisher.failure());
            JournalSubscriber subscriber = subscribers.get(i);
            int missing = publisher.count() - 1 - subscriber.highest();
            long begin = System.nanoTime();
            awaitAll(publisher, subscriber);
            ClientFailures.assertNone(subscriber, subscriber.failure());
            System.out.printf(
                    "QoS %d: %d messages came within %.1f s of the last one published%n",
                    subscriber.qos(), missing, (System.nanoTime() - begin) / 1e9);
            subscriber.finish();
        }
    }

    /** However many messages wait, they keep coming: none for a minute is a fault. */
    private static void awaitAll(JournalPublisher publisher, JournalSubscriber subscriber) {
        int last = publisher.count() - 1;
        while (subscriber.highest() < last && subscriber.failure() == null) {
            int before = subscriber.highest();
            await().atMost(PATIENCE).until(() -> subscriber.highest() > before || subscriber.failure() != null);
        }
    }

    private void check(Campaign campaign, JournalPublisher publisher, JournalSubscriber subscriber, BridgeTap tap) {
        int count = publisher.count();
        List<Integer> received = subscriber.received();
        List<Integer> first = received.stream().distinct().toList();
        Set<Integer> lost = IntStream.range(0, count).boxed().collect(Collectors.toCollection(TreeSet::new));
        first.forEach(lost::remove);
        List<Integer> sorted = first.stream().sorted().toList();
        boolean sentInOrder = tap.order(publisher.topic()).isKept();
        System.out.printf(
                "QoS %d: published %d, lost %d, received again %d, first copies in order: %s, sent in order: %s%n",
                subscriber.qos(),
                count,
                lost.size(),
                received.size() - first.size(),
                first.equals(sorted),
                sentInOrder);
        String about = subscriber.getName() + ", seed " + seed;
        if (campaign.isFromUs()) {
            assertThat(sentInOrder).as("sent in order, " + about).isTrue();
        }
        boolean firstInOrder = tap.order(publisher.topic()).isKeptForFirstCopies();
        if (firstInOrder && !campaign.killsForeignReceiver()) { // a mosquitto can send new messages before old ones
            assertThat(first).as("order, " + about).isEqualTo(sorted);
        }
        if (campaign.killsForeignReceiver()) {
            lost.removeAll(tap.acknowledged(publisher.topic()));
            assertThat(lost)
                    .as("lost, and the killed broker has not acknowledged it, " + about)
                    .isEmpty();
        } else if (campaign.killsForeignSender()) {
            lost.retainAll(tap.acknowledged(publisher.topic()));
            assertThat(lost)
                    .as("lost after the killed broker has got an acknowledgement, " + about)
                    .isEmpty();
        } else {
            assertThat(lost).as("lost, " + about).isEmpty();
            if (subscriber.qos() == 2) {
                assertThat(received).as("exactly once, " + about).hasSize(count);
            }
        }
    }
}
