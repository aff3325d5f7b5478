// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Publishes numbers to ten topics at QoS 1, while the server of a sink and the broker are killed and started again. A short run by default; by
 * {@code smqtt.sink.seconds}, {@code .rate}, {@code .server-kills} and {@code .broker-kills} a long one.
 */
final class SinkCampaign implements AutoCloseable {

    /** The filter of all topics. */
    static final String FILTER = "in/#";

    /** The most messages that the action has at the same time, and so the most that are repeated after a kill. */
    private static final int INFLIGHT = 1_000;

    private static final int TOPICS = 10;
    private static final int SECONDS = Integer.getInteger("smqtt.sink.seconds", 2);
    private static final int RATE = Integer.getInteger("smqtt.sink.rate", 500);
    private static final int SERVER_KILLS = Integer.getInteger("smqtt.sink.server-kills", 1);
    private static final int BROKER_KILLS = Integer.getInteger("smqtt.sink.broker-kills", 0);
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Supplier<BrokerProcess> start;
    private final Server server;
    private final Whereabouts where = new Whereabouts();
    private final List<JournalPublisher> publishers;
    private BrokerProcess broker;

    /** The server that the sink writes to. */
    interface Server {

        /** Kills it. */
        void kill() throws IOException;

        /** Starts it again. */
        void start() throws IOException;

        /** Whether the sink must fail between both. */
        default boolean isMissed() {
            return false;
        }
    }

    /** Starts the broker, by a command that starts it again after each kill. */
    SinkCampaign(Supplier<BrokerProcess> start, Server server) {
        this(start, server, publisher -> publisher);
    }

    /** The same with publishers that are prepared for it. */
    SinkCampaign(Supplier<BrokerProcess> start, Server server, UnaryOperator<JournalPublisher> publisher) {
        this.start = start;
        this.server = server;
        this.broker = start.get();
        this.where.set(broker.address("tcp"));
        this.publishers = IntStream.range(0, TOPICS)
                .mapToObj(i -> new JournalPublisher(
                        topics().get(i),
                        1,
                        where,
                        Duration.ofNanos(Duration.ofSeconds(1).toNanos() * TOPICS / RATE)))
                .map(publisher)
                .toList();
    }

    /**
     * Writes the configuration of a broker with the rule {@code store}.
     *
     * @param directory where it is written
     * @param statement the statement of the rule
     * @param action the keys of its action that the type of the sink has, one in each line
     */
    static Path configuration(Path directory, String statement, String action) throws IOException {
        return Files.writeString(directory.resolve("test.yaml"), """
                management:
                  enabled: false
                access:
                  allow-anonymous: loopback
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                storage:
                  kind: rocksdb
                rules:
                  store:
                    sql: %s
                    actions:
                      sink:
                        inflight: %d
                        batch-size: 500
                        lanes: 2
                        min-delay: 20ms
                        max-delay: 500ms
                        timeout: 5s
                """.formatted(statement, INFLIGHT) + action.indent(8));
    }

    /** The numbers in files of rows such as <code>{"topic":"in/7","n":"3"}</code>, by topic; lines that are not complete are left out. */
    static Map<String, List<Integer>> numbers(Path... files) throws IOException {
        Map<String, List<Integer>> numbers = new TreeMap<>();
        for (Path file : files) {
            for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
                String[] parts = line.split("\"", -1);
                if (parts.length == 9) {
                    numbers.computeIfAbsent(parts[3], topic -> new ArrayList<>())
                            .add(Integer.valueOf(parts[7]));
                }
            }
        }
        return numbers;
    }

    /** Waits for one dead letter, with some parts in its line. */
    static void awaitDeadLetter(Path directory, String... parts) {
        Path file = directory.resolve("data/rules/store-dead.jsonl");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(Files.readAllLines(file))
                        .singleElement()
                        .asString()
                        .contains("\"topic\":\"in/poison\"")
                        .contains(parts));
    }

    /** Publishes a message with QoS 1 that the server of the sink refuses. */
    void publishPoison(String payload) {
        try (RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("poison");
            client.publish("in/poison", payload, 1);
        }
    }

    /** The number of different messages among those that have arrived. */
    static int distinct(Map<String, List<Integer>> numbers) {
        return numbers.values().stream()
                .mapToInt(arrived -> new LinkedHashSet<>(arrived).size())
                .sum();
    }

    /** Publishes and kills; returns when all messages are acknowledged. */
    void run() throws Exception {
        publishers.forEach(Thread::start);
        Duration pause = Duration.ofSeconds(SECONDS).dividedBy(2L * (SERVER_KILLS + BROKER_KILLS) + 1);
        for (int i = 0; i < Math.max(SERVER_KILLS, BROKER_KILLS); i++) {
            if (i < SERVER_KILLS) {
                pass(pause);
                server.kill();
                pass(pause);
                if (server.isMissed()) {
                    broker.awaitLine("the sink fails");
                }
                server.start();
            }
            if (i < BROKER_KILLS) {
                pass(pause.multipliedBy(2));
                where.set(null);
                broker.kill9();
                broker = start.get();
                where.set(broker.address("tcp"));
            }
        }
        pass(pause);
        for (JournalPublisher publisher : publishers) {
            publisher.lastOne();
        }
        for (JournalPublisher publisher : publishers) {
            publisher.join(PATIENCE.toMillis());
            assertThat(publisher.failure()).isNull();
            assertThat(publisher.isAlive()).isFalse();
        }
    }

    private static void pass(Duration time) {
        await().pollDelay(time).atMost(time.plus(PATIENCE)).until(() -> true);
    }

    /** Where the broker is, for further clients. */
    Whereabouts where() {
        return where;
    }

    /** The topics that are published to. */
    static List<String> topics() {
        return IntStream.range(0, TOPICS).mapToObj(i -> "in/" + i).toList();
    }

    /** The number of different messages that were published. */
    int published() {
        return publishers.stream().mapToInt(JournalPublisher::count).sum();
    }

    /**
     * Fails unless all messages have arrived, in their order within each topic, but for repetitions.
     *
     * @param name of the sink, for the line with the figures
     * @param numbers what has arrived in each topic
     */
    void assertArrived(String name, Map<String, List<Integer>> numbers) {
        assertArrived(name, numbers, 0);
    }

    /**
     * The same where more may be repeated.
     *
     * @param more beside what is repeated after kills
     */
    void assertArrived(String name, Map<String, List<Integer>> numbers, int more) {
        int rows = 0;
        for (JournalPublisher publisher : publishers) {
            List<Integer> arrived = numbers.get(publisher.topic());
            List<Integer> first = new ArrayList<>(new LinkedHashSet<>(arrived));
            assertThat(first)
                    .as(publisher.topic())
                    .containsExactlyElementsOf(
                            IntStream.range(0, publisher.count()).boxed().toList());
            rows += arrived.size();
        }
        int repeated = rows - published();
        System.out.printf(
                "%s: %d messages at %d/s, server killed %d times, broker %d times: none lost, %d repeated%n",
                name, published(), RATE, SERVER_KILLS, BROKER_KILLS, repeated);
        assertThat(repeated)
                .isBetween(
                        0,
                        more
                                + (SERVER_KILLS + BROKER_KILLS) * INFLIGHT
                                + BROKER_KILLS * TOPICS * JournalClient.WINDOW); // which publishers send again
    }

    @Override
    public void close() {
        publishers.forEach(JournalPublisher::finish);
        broker.close();
    }
}
