// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Automatic subscriptions and rewritten topics, seen by mosquitto_sub and mosquitto_pub: one broker for all cases. */
class MessageFeaturesIT {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    static Path directory;

    private static final String STORED = """
            access:
              password-file: %2$s
            management:
              enabled: false
            storage:
              kind: rocksdb
              dir: %1$s
            listeners:
              tcp:
                host: 127.0.0.1
                port: 0
              ws:
                enabled: false
            """;

    private static BrokerProcess broker;

    @BeforeAll
    static void start() throws IOException {
        List<String> users = List.of(
                ForeignProgram.path("mosquitto_passwd"),
                "-b",
                "-c",
                directory.resolve("users").toString(),
                "admin",
                "pw");
        try (CapturedProcess process = CapturedProcess.start("mosquitto_passwd", new ProcessBuilder(users))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
        }
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), """
                access:
                  password-file: users
                management:
                  enabled: false
                storage:
                  kind: memory
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                auto-subscriptions:
                  commands:
                    topic: c/${clientid}
                    qos: 1
                  users:
                    topic: client/${clientid}/username/${username}/host/${host}
                topic-rewrites:
                  devices:
                    source-topic: x/#
                    re: ^x/y/(.+)$
                    dest-topic: z/y/$1
                  numbers:
                    source-topic: x/y/+
                    re: ^x/y/(\\d+)$
                    dest-topic: z/${username}/$1
                """);
        broker = BrokerProcess.start(directory, List.of(), file);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void aClientReceivesWhatItHasNotSubscribedTo() {
        try (CapturedProcess subscriber = subscribe("demo_client1", "own")) {
            publish("c/demo_client1", "one");
            subscriber.awaitLine("one", "c/demo_client1|one|1"::equals, PATIENCE);
            publish("client/demo_client1/username/admin/host/127.0.0.1", "two");
            subscriber.awaitLine("two", "client/demo_client1/username/admin/host/127.0.0.1|two|0"::equals, PATIENCE);
        }
    }

    @Test
    void aClientIdentifierThatIsAWildcardSubscribesToNothing() {
        try (CapturedProcess subscriber = subscribe("+", "end")) {
            publish("c/demo_client1", "of another client");
            publish("end", "end");
            subscriber.awaitLine("end", "end|end|1"::equals, PATIENCE);
            assertThat(subscriber.output()).noneMatch(line -> line.contains("of another client"));
        }
    }

    @Test
    void aTopicHasItsNewNameForEverybody() {
        try (CapturedProcess other = subscribe("other", "z/#");
                CapturedProcess subscriber = subscribe("rewritten", "x/y/a/b")) {
            publish("x/y/1", "numbers");
            publish("x/y/a/b", "letters");
            other.awaitLine("letters", "z/y/a/b|letters|1"::equals, PATIENCE);
            assertThat(other.output()).contains("z/admin/1|numbers|1");
            subscriber.awaitLine("letters", "z/y/a/b|letters|1"::equals, PATIENCE);
        }
    }

    @Test
    void aDelayedMessageSurvivesAKillAndLeavesInTheOrderOfItsTime() throws IOException {
        try (CapturedProcess subscriber = subscribe("later", "x/#")) {
            publish("$delayed/1/x/y", "of this run");
            publish("$delay/2/x/z", "of the former name");
            subscriber.awaitLine("the former name", "x/z|of the former name|1"::equals, PATIENCE);
            assertThat(subscriber.output()).contains("x/y|of this run|1");
        }
        Path data = directory.resolve("stored");
        Path file =
                Files.writeString(directory.resolve("stored.yaml"), STORED.formatted(data, directory.resolve("users")));
        BrokerProcess memory = broker;
        try {
            broker = BrokerProcess.start(directory, List.of(), file);
            try (BrokerProcess killed = broker) {
                publish("$delayed/7/x/y", "second", "-r");
                publish("$delayed/6/x/y", "first", "-r");
                publish("$delayed/3600/a/b", "much later");
                killed.kill9();
            }
            broker = BrokerProcess.start(directory, List.of(), file);
            try (BrokerProcess again = broker;
                    CapturedProcess subscriber = subscribe("later", "#")) {
                subscriber.awaitLine("second", "x/y|second|1"::equals, PATIENCE);
                assertThat(subscriber.output())
                        .filteredOn(line -> line.startsWith("x/") || line.startsWith("a/"))
                        .isSubsetOf("x/y|first|1", "x/y|second|1")
                        .endsWith("x/y|second|1");
                assertThat(again.output()).anyMatch(line -> line.contains("recovered 3 delayed messages"));
            }
        } finally {
            broker = memory;
        }
    }

    private static CapturedProcess subscribe(String clientId, String filter, String... options) {
        List<String> command = new ArrayList<>(List.of("stdbuf", "-oL"));
        command.addAll(client("mosquitto_sub", "-d", "-i", clientId, "-t", filter, "-q", "1"));
        command.addAll(List.of("-F", "%t|%p|%q"));
        command.addAll(List.of(options));
        CapturedProcess process = CapturedProcess.start("mosquitto_sub", new ProcessBuilder(command));
        process.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE);
        return process;
    }

    private static void publish(String topic, String text, String... options) {
        List<String> command = client("mosquitto_pub", "-t", topic, "-m", text, "-q", "1");
        command.addAll(List.of(options));
        try (CapturedProcess process = CapturedProcess.start("mosquitto_pub", new ProcessBuilder(command))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
        }
    }

    private static List<String> client(String program, String... options) {
        List<String> command = new ArrayList<>(List.of(ForeignProgram.path(program), "-h", "127.0.0.1", "-p"));
        command.addAll(List.of(String.valueOf(broker.port("tcp")), "-V", "mqttv5", "-u", "admin", "-P", "pw"));
        command.addAll(List.of(options));
        return command;
    }
}
