// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two brokers behind nginx, with the configuration that {@code deploy/nginx} offers: its ports replaced, its second server enabled. */
class NginxIT {

    private static final int CLIENTS = 12;

    /** Another address of the loopback interface than the one nginx connects from. */
    private static final String CLIENT_HOST = "127.0.0.7";

    @TempDir
    Path directory;

    private BrokerProcess one;
    private BrokerProcess two;
    private CapturedProcess nginx;
    private InetSocketAddress front;

    @BeforeEach
    void start() throws IOException {
        Path file = Files.writeString(directory.resolve("behind.yaml"), """
                management:
                  port: 0
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                    connect-timeout: 3s
                    proxy-protocol: true
                    trusted-proxies: [127.0.0.1]
                  ws:
                    enabled: false
                """);
        one = BrokerProcess.start(Files.createDirectory(directory.resolve("one")), List.of(), file);
        two = BrokerProcess.start(Files.createDirectory(directory.resolve("two")), List.of(), file);
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName(Endpoint.HOST))) {
            front = Endpoint.loopback(free.getLocalPort());
        }
        nginx = startNginx();
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() ->
                        assertThat(isListening()).as("nginx%s", nginx.report()).isTrue());
    }

    private boolean isListening() {
        try (Socket socket = new Socket(front.getAddress(), front.getPort())) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private CapturedProcess startNginx() throws IOException {
        String offered = Files.readString(BrokerProcess.script()
                .resolveSibling("../deploy/nginx/smqtt-stream.conf")
                .normalize());
        String adapted = offered.replace("listen 1883", "listen " + Endpoint.HOST + ":" + front.getPort())
                .replace("# server 127.0.0.1:1885", "server 127.0.0.1:" + two.port("tcp"))
                .replace("127.0.0.1:1884", "127.0.0.1:" + one.port("tcp"));
        assertThat(adapted).doesNotContain("1883").contains(String.valueOf(two.port("tcp")));
        Path file = Files.writeString(directory.resolve("nginx.conf"), adapted);
        String globals = "daemon off; pid " + directory.resolve("nginx.pid") + "; error_log stderr;";
        return CapturedProcess.start(
                "nginx", new ProcessBuilder(program(), "-c", file.toString(), "-e", "stderr", "-g", globals));
    }

    private static String program() {
        return Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin", "/sbin"))
                .map(folder -> Path.of(folder, "nginx"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new AssertionError("nginx is missing; `.ci/run` installs it"))
                .toString();
    }

    @AfterEach
    void end() {
        nginx.terminate();
        nginx.awaitExit(Duration.ofSeconds(20));
        one.close();
        two.close();
    }

    private RawClient open() {
        try {
            return RawClient.over(
                            new Socket(front.getAddress(), front.getPort(), InetAddress.getByName(CLIENT_HOST), 0),
                            ProtocolVersion.MQTT_5)
                    .deadline(Duration.ofSeconds(20));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void clientsAreSpreadAndGoToTheOtherBrokerWhenOneStops() {
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < CLIENTS; i++) {
                RawClient client = open();
                clients.add(client);
                client.connect("spread-" + i);
                client.subscribe("to/" + i, 0);
            }
            one.terminate();
            assertThat(one.awaitExit(Duration.ofSeconds(20))).isZero();

            int moved = 0;
            for (int i = 0; i < CLIENTS; i++) {
                RawClient client = clients.get(i);
                client.send((byte) 0xC0, (byte) 0);
                ReceivedPacket answer = client.receive();
                if (answer != null && answer.type() == MqttMessageType.DISCONNECT) {
                    assertThat(answer.reasonCode()).isEqualTo(ReasonCode.SERVER_SHUTTING_DOWN.value());
                    moved++;
                    client.close();
                    clients.set(i, open());
                    clients.get(i).connect("spread-" + i);
                }
            }
            assertThat(moved).isBetween(1, CLIENTS - 1);
        } finally {
            clients.forEach(RawClient::close);
        }
    }

    @Test
    void theClientsOwnAddressIsSeen() {
        try (RawClient client = open()) {
            client.send((byte) 0xFF, (byte) 0);
            client.expectClosed();
        }
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(one.report() + two.report()).contains(CLIENT_HOST));
    }

    @Test
    void aClientThatComesAroundNginxIsRefused() {
        try (RawClient client = RawClient.to(one.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.send(ConnectBytes.of("without a header"));
            client.expectClosed();
        }
    }
}
