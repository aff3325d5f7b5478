// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** mosquitto_pub and mosquitto_sub, which speak MQTT 3.1, 3.1.1 and 5 over TCP and TLS. */
@ExtendWith(TestedBroker.Provider.class)
@Execution(ExecutionMode.CONCURRENT)
class MosquittoToolsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String FORMAT = "%t|%p|%q|%r";

    private final String prefix = UUID.randomUUID().toString().substring(0, 8);

    static Stream<Arguments> transportsAndVersions() {
        return Stream.of(Transport.TCP, Transport.TLS)
                .flatMap(transport ->
                        Stream.of("mqttv31", "mqttv311", "mqttv5").map(version -> Arguments.of(transport, version)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("transportsAndVersions")
    void everyQosReachesAWildcardSubscriber(Transport transport, String version, TestedBroker broker) {
        Tools tools = new Tools(broker.endpoint(transport), version);
        try (CapturedProcess subscriber = tools.subscribe("-q", "2", "-t", prefix + "/+", "-F", FORMAT)) {
            for (int qos = 0; qos <= 2; qos++) {
                tools.publish("-t", prefix + "/" + qos, "-m", "m" + qos, "-q", String.valueOf(qos));
                String line = prefix + "/" + qos + "|m" + qos + "|" + qos + "|0";
                assertThat(subscriber.awaitLine(line, line::equals, PATIENCE)).isEqualTo(line);
            }
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("transportsAndVersions")
    void aRetainedMessageIsKeptAndCleared(Transport transport, String version, TestedBroker broker) {
        Tools tools = new Tools(broker.endpoint(transport), version);
        tools.publish("-t", prefix + "/kept", "-m", "kept", "-q", "1", "-r");

        try (CapturedProcess subscriber = tools.subscribe("-q", "1", "-t", prefix + "/#", "-F", FORMAT)) {
            subscriber.awaitLine("the retained message", (prefix + "/kept|kept|1|1")::equals, PATIENCE);
        }

        tools.publish("-t", prefix + "/kept", "-n", "-q", "1", "-r");
        try (CapturedProcess subscriber = tools.subscribe("-q", "1", "-t", prefix + "/#", "-F", FORMAT)) {
            tools.publish("-t", prefix + "/end", "-m", "end", "-q", "1");
            subscriber.awaitLine("the live message", (prefix + "/end|end|1|0")::equals, PATIENCE);
            assertThat(subscriber.output()).noneMatch(line -> line.startsWith(prefix + "/kept"));
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("transportsAndVersions")
    void theWillIsSentWhenAClientIsKilled(Transport transport, String version, TestedBroker broker) {
        Tools tools = new Tools(broker.endpoint(transport), version);
        try (CapturedProcess watcher = tools.subscribe("-q", "1", "-t", prefix + "/will", "-F", FORMAT)) {
            CapturedProcess victim = tools.subscribe(
                    "-t", prefix + "/x", "--will-topic", prefix + "/will", "--will-payload", "gone", "--will-qos", "1");
            victim.close();

            assertThat(watcher.awaitLine("the will", line -> line.startsWith(prefix + "/will"), PATIENCE))
                    .isEqualTo(prefix + "/will|gone|1|0");
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("transportsAndVersions")
    void aSessionResumesWithItsQueue(Transport transport, String version, TestedBroker broker) {
        Tools tools = new Tools(broker.endpoint(transport), version);
        List<String> session =
                new ArrayList<>(List.of("-i", prefix, "-c", "-q", "2", "-t", prefix + "/queue", "-F", FORMAT));
        if (version.equals("mqttv5")) {
            session.addAll(List.of("-x", "300"));
        }
        try (CapturedProcess first = tools.subscribe(session.toArray(String[]::new))) {
            first.terminate();
            first.awaitExit(PATIENCE);
        }
        for (int i = 0; i < 3; i++) {
            tools.publish("-t", prefix + "/queue", "-m", "m" + i, "-q", "2");
        }

        try (CapturedProcess second = tools.subscribe(session.toArray(String[]::new))) {
            second.awaitLine("the last message", (prefix + "/queue|m2|2|0")::equals, PATIENCE);
            assertThat(second.output())
                    .filteredOn(line -> line.startsWith(prefix))
                    .containsExactly(prefix + "/queue|m0|2|0", prefix + "/queue|m1|2|0", prefix + "/queue|m2|2|0");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "TLS"})
    void propertiesArriveInOrder(Transport transport, TestedBroker broker) {
        Tools tools = new Tools(broker.endpoint(transport), "mqttv5");
        try (CapturedProcess subscriber = tools.subscribe("-t", prefix, "-F", "%P|%R|%D|%C|%p")) {
            tools.publish(
                    "-t",
                    prefix,
                    "-m",
                    "m",
                    "-D",
                    "publish",
                    "user-property",
                    "b",
                    "1",
                    "-D",
                    "publish",
                    "user-property",
                    "a",
                    "2",
                    "-D",
                    "publish",
                    "response-topic",
                    "reply",
                    "-D",
                    "publish",
                    "correlation-data",
                    "77",
                    "-D",
                    "publish",
                    "content-type",
                    "text/plain");
            String expected = "b:1 a:2|reply|77|text/plain|m";
            assertThat(subscriber.awaitLine("the message", line -> line.endsWith("|m"), PATIENCE))
                    .isEqualTo(expected);
        }
    }

    /** The two commands with the options that lead to the broker. */
    private record Tools(Endpoint endpoint, String version) {

        /** Starts mosquitto_sub and waits for its SUBACK. */
        CapturedProcess subscribe(String... arguments) {
            List<String> command = command("mosquitto_sub", arguments);
            command.add("-d");
            command.addAll(0, List.of("stdbuf", "-oL"));
            CapturedProcess process = CapturedProcess.start("mosquitto_sub", new ProcessBuilder(command));
            process.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE);
            return process;
        }

        /** Runs mosquitto_pub to its end. */
        void publish(String... arguments) {
            try (CapturedProcess process =
                    CapturedProcess.start("mosquitto_pub", new ProcessBuilder(command("mosquitto_pub", arguments)))) {
                assertThat(process.awaitExit(PATIENCE))
                        .as("mosquitto_pub%s", process.report())
                        .isZero();
            }
        }

        private List<String> command(String program, String... arguments) {
            List<String> command = new ArrayList<>(List.of(
                    ForeignProgram.path(program),
                    "-h",
                    Endpoint.HOST,
                    "-p",
                    String.valueOf(endpoint.port()),
                    "-V",
                    version));
            if (endpoint.transport().secure()) {
                command.addAll(List.of("--cafile", endpoint.authority().toString()));
            }
            command.addAll(List.of(arguments));
            return command;
        }
    }
}
