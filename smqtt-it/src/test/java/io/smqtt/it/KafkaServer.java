// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Kafka of one node, broker and controller at once, as a child process on free loopback ports. Its jars are those that the build has resolved. */
final class KafkaServer implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Path CLASS_PATH = Path.of("target", "kafka.classpath");
    private static final Duration POLL = Duration.ofMillis(100);

    private final Path directory;
    private final Path configuration;
    private final List<String> jvm;
    private final int port = LoopbackPorts.one();
    private CapturedProcess process;

    private KafkaServer(Path directory, List<String> jvm) throws IOException {
        this.directory = directory;
        this.jvm = jvm;
        this.configuration = Files.writeString(directory.resolve("server.properties"), """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@127.0.0.1:%2$d
                listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
                advertised.listeners=PLAINTEXT://127.0.0.1:%1$d
                controller.listener.names=CONTROLLER
                listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
                log.dirs=%3$s
                offsets.topic.replication.factor=1
                offsets.topic.num.partitions=1
                transaction.state.log.replication.factor=1
                transaction.state.log.min.isr=1
                group.initial.rebalance.delay.ms=0
                auto.create.topics.enable=false
                """.formatted(
                        port, LoopbackPorts.one(), directory.resolve("log")));
        try (CapturedProcess format = run(
                "kafka.tools.StorageTool", "format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", configuration.toString())) {
            assertThat(format.awaitExit(PATIENCE)).as(format.report()).isZero();
        }
        startAgain();
    }

    /** Starts a server that starts fast. */
    static KafkaServer brief(Path directory) throws IOException {
        return new KafkaServer(directory, List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    }

    /** Starts a server for load. */
    static KafkaServer lasting(Path directory) throws IOException {
        return new KafkaServer(directory, List.of());
    }

    private CapturedProcess run(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvm);
        command.addAll(List.of("-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp"));
        command.add(Files.readString(CLASS_PATH).strip());
        command.addAll(List.of(arguments));
        return CapturedProcess.start("kafka", new ProcessBuilder(command).directory(directory.toFile()));
    }

    /** The address for clients: {@code host:port}. */
    String address() {
        return "127.0.0.1:" + port;
    }

    /** Starts it again if it has ended by itself, and waits until it answers. */
    void startIfEnded() throws IOException {
        if (!process.process().isAlive()) {
            startAgain();
        }
    }

    /** Starts it on the same port, and waits until it answers. */
    void startAgain() throws IOException {
        process = run("kafka.Kafka", configuration.toString());
        try (Admin admin = admin()) {
            await().atMost(PATIENCE).ignoreExceptions().until(() -> {
                assertThat(process.process().isAlive()).as(process.report()).isTrue();
                return admin.describeCluster().nodes().get(PATIENCE.toSeconds(), TimeUnit.SECONDS) != null;
            });
        }
    }

    private Admin admin() {
        return Admin.create(Map.of(
                "bootstrap.servers",
                address(),
                "default.api.timeout.ms",
                Math.toIntExact(PATIENCE.toMillis()),
                "reconnect.backoff.max.ms",
                100));
    }

    /** Makes a topic. The configuration is that of topics in Kafka. */
    void createTopic(String name, int partitions, Map<String, String> configuration) throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(Set.of(new NewTopic(name, partitions, (short) 1).configs(configuration)))
                    .all()
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** All records of a topic, those of each partition in their order. */
    List<ConsumerRecord<String, String>> records(String topic, int partitions) {
        List<TopicPartition> all = IntStream.range(0, partitions)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", address()), new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            List<ConsumerRecord<String, String>> records = new ArrayList<>();
            while (all.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                consumer.poll(POLL).forEach(records::add);
            }
            return records;
        }
    }

    /** Stops it from doing anything; its connections stay open. */
    void pause() {
        signal("STOP");
    }

    /** Ends {@link #pause}. */
    void resume() {
        signal("CONT");
    }

    private void signal(String name) {
        String pid = String.valueOf(process.process().pid());
        try (CapturedProcess kill = CapturedProcess.start("kill", new ProcessBuilder("kill", "-" + name, pid))) {
            assertThat(kill.awaitExit(PATIENCE)).as(kill.report()).isZero();
        }
    }

    /** Kills it. What it has acknowledged is in its files. */
    void kill() {
        process.close();
    }

    @Override
    public void close() {
        process.close();
    }
}
