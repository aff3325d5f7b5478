// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** How the program starts and ends: exit codes, flags, signals. */
@Execution(ExecutionMode.CONCURRENT)
class StartStopIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private Path configuration(String yaml) throws IOException {
        return Files.writeString(directory.resolve("test.yaml"), yaml);
    }

    private static String oneListener(int port) {
        return "management:\n  port: 0\nlisteners:\n  tcp:\n    host: 127.0.0.1\n    port: " + port
                + "\n  ws:\n    enabled: false\n";
    }

    @Test
    void aWrongKeyEndsTheStartWithCode3AndItsLine() throws IOException {
        Path file = configuration("listeners:\n  tcp:\n    prot: 1883\n");
        try (CapturedProcess start = BrokerProcess.run(directory, "start", "--config", file.toString())) {
            assertThat(start.awaitExit(PATIENCE))
                    .as("exit code%s", start.report())
                    .isEqualTo(3);
            assertThat(start.report())
                    .contains("listeners.tcp.prot")
                    .contains("test.yaml:3")
                    .contains("listeners.tcp.port");
        }
    }

    @Test
    void aMissingPasswordFileEndsTheStartWithCode3() throws IOException {
        Path file = configuration(oneListener(0) + "access:\n  password-file: nowhere\n");
        try (CapturedProcess start = BrokerProcess.run(directory, "start", "--config", file.toString())) {
            assertThat(start.awaitExit(PATIENCE))
                    .as("exit code%s", start.report())
                    .isEqualTo(3);
            assertThat(start.report()).contains("nowhere");
        }
    }

    @Test
    void aPortInUseEndsTheStartWithCode4() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName(Endpoint.HOST))) {
            Path file = configuration(oneListener(taken.getLocalPort()));
            try (CapturedProcess start = BrokerProcess.run(directory, "start", "--config", file.toString())) {
                assertThat(start.awaitExit(PATIENCE))
                        .as("exit code%s", start.report())
                        .isEqualTo(4);
                assertThat(start.report())
                        .contains("port " + taken.getLocalPort() + " on 127.0.0.1")
                        .contains("in use");
            }
        }
    }

    @Test
    void thePortOfANodeInUseEndsTheStartWithCode4AndItsKey() throws IOException {
        int port = LoopbackPorts.one();
        try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getByName(Endpoint.HOST))) {
            Path file = configuration(
                    oneListener(0) + "cluster: {enabled: true, node-id: n1, bind: '127.0.0.1:" + port + "'}\n");
            try (CapturedProcess start = BrokerProcess.run(
                    directory, "start", "--config", file.toString(), "--set", "storage.kind=memory")) {
                assertThat(start.awaitExit(PATIENCE))
                        .as("exit code%s", start.report())
                        .isEqualTo(4);
                assertThat(start.report())
                        .contains("port " + taken.getLocalPort() + " on 127.0.0.1")
                        .contains("cluster.bind");
            }
        }
    }

    @Test
    void aListenerOnAllAddressesIsShownAsConfigured() throws IOException {
        Path file = configuration(oneListener(0));
        try (BrokerProcess broker = BrokerProcess.start(directory, List.of(), file, "listeners.tcp.host=0.0.0.0")) {
            assertThat(broker.awaitLine("listener tcp bound")).endsWith("0.0.0.0:" + broker.port("tcp"));
        }
    }

    @Test
    void sigtermSaysGoodbyeAndEnds() throws IOException {
        try (BrokerProcess broker = BrokerProcess.start(directory, List.of(), configuration(oneListener(0)));
                RawClient five = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient four = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1);
                RawClient silent = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            five.connect("five");
            four.connect("four");

            broker.terminate();

            five.expectDisconnect(ReasonCode.SERVER_SHUTTING_DOWN);
            four.expectClosed();
            silent.expectClosed();
            assertThat(broker.awaitExit(Duration.ofSeconds(10)))
                    .as("exit code%s", broker.report())
                    .isZero();
            assertThatThrownBy(() -> RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5))
                    .hasCauseInstanceOf(ConnectException.class);
        }
    }

    @Test
    void aKilledBrokerStartsAtOnceOnTheSamePort() throws IOException {
        int port = LoopbackPorts.one();
        Path file = configuration(oneListener(port));
        try (BrokerProcess first = BrokerProcess.start(directory, List.of(), file);
                RawClient client = RawClient.to(first.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("left");
            first.kill9();

            try (BrokerProcess second = BrokerProcess.start(directory, List.of(), file);
                    RawClient again = RawClient.to(second.address("tcp"), ProtocolVersion.MQTT_5)) {
                assertThat(second.port("tcp")).isEqualTo(port);
                again.connect("left");
            }
        }
    }

    @Test
    void aFrozenBrokerGoesOnWhereItStopped() throws IOException {
        try (BrokerProcess broker = BrokerProcess.start(directory, List.of(), configuration(oneListener(0)));
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect(ConnectBytes.of("patient").keepAlive(2));
            client.subscribe("a", 0);

            broker.signal("STOP");
            client.send(PublishBytes.to("a").payload("sent to the frozen broker"));
            await().pollDelay(Duration.ofMillis(3_500)).until(() -> true); // longer than 1.5 times the keep alive
            broker.signal("CONT");

            client.expectPublish("a", "sent to the frozen broker");
            client.ping(); // it did its part in time: when it sent counts, not when that was read
        }
    }
}
