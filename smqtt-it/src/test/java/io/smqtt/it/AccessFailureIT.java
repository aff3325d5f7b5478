// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two backends in a chain whose server accepts connections and answers nothing, and then works. */
class AccessFailureIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final List<RawClient> clients = new ArrayList<>();
    private final HttpClient http = HttpClient.newHttpClient();
    private int management;
    private ServerSocket silent;
    private BrokerProcess broker;

    @BeforeEach
    void start() throws IOException {
        management = LoopbackPorts.one();
        silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        String backend = """
                      type: http
                      url: http://127.0.0.1:%d/user
                      user-prefix: dev-
                      on-failure: next
                      timeout: 1500ms
                """.formatted(silent.getLocalPort());
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), """
                access:
                  allow-anonymous: true
                  chain: [one, two]
                  backends:
                    one:
                %s    two:
                %s
                management:
                  port: %d
                  sys-interval: 1s
                storage:
                  kind: memory
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                    connect-timeout: 2s
                  ws:
                    enabled: false
                """.formatted(backend, backend, management));
        broker = BrokerProcess.start(directory, List.of(), file);
    }

    @AfterEach
    void stop() throws IOException {
        clients.forEach(RawClient::close);
        broker.close();
        silent.close();
    }

    private RawClient open() {
        RawClient client =
                RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5).deadline(Duration.ofSeconds(20));
        clients.add(client);
        return client;
    }

    private RawClient ask(int number) {
        return open().send(
                        ConnectBytes.of("c" + number).userName("dev-" + number).password("x"));
    }

    private String ready() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + management + "/health/ready"))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    @Test
    void theChainHasADeadlineAndOperatorsSeeWhichBackendFails() throws Exception {
        RawClient operator = open();
        assertThat(operator.connect("operator").reasonCode()).isZero();
        operator.subscribe("$SYS/broker/alarms/+/+", 0);
        assertThat(ready()).contains("\"backend-one\":\"up\"", "\"backend-two\":\"up\"");

        long began = System.nanoTime();
        List<RawClient> waiting = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            waiting.add(ask(i));
        }
        for (RawClient client : waiting) { // half a second for the second backend: then the time of the connect is over
            assertThat(client.expect(MqttMessageType.CONNACK).reasonCode())
                    .isEqualTo(ReasonCode.SERVER_UNAVAILABLE.value());
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .isBetween(Duration.ofMillis(1_700), Duration.ofMillis(2_900));

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(ready())
                        .contains("\"status\":\"up\"", "\"backend-one\":\"down\"", "\"backend-two\":\"down\""));
        List<String> alarms = new ArrayList<>();
        while (alarms.size() < 2) {
            alarms.add(operator.expect(MqttMessageType.PUBLISH).topic());
        }
        assertThat(alarms)
                .containsExactlyInAnyOrder(
                        "$SYS/broker/alarms/backend_down/one", "$SYS/broker/alarms/backend_down/two");
        broker.awaitLine("alarm backend_down/one");

        int port = silent.getLocalPort();
        silent.close();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 100);
        server.createContext("/user", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        try {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(
                                    ask(100).expect(MqttMessageType.CONNACK).reasonCode())
                            .isZero());
            assertThat(ready()).contains("\"backend-one\":\"up\"");
        } finally {
            server.stop(0);
        }
    }
}
