// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The source {@code http} of the real program: requests become messages, until an operator stops it. */
class HttpSourceIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final int port = LoopbackPorts.one();
    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void requestsBecomeMessages() throws Exception {
        Files.writeString(directory.resolve("orders.token"), "s3cret\n");
        String source = """
                sources:
                  orders:
                    type: http
                    port: %d
                    path: /orders
                    topic: orders/${path}
                    token-file: orders.token
                """.formatted(port);
        try (BrokerProcess broker = LoopbackBroker.with(directory, source, "storage.kind=rocksdb");
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("client");
            client.subscribe("orders/#", 1);

            assertThat(post("/orders/17", "s3cret", "new")).isEqualTo(204);
            client.expectPublish("orders/17", "new");
            assertThat(post("/orders/17", "other", "new")).isEqualTo(401);
            assertThat(post("/out", "s3cret", "new")).isEqualTo(404);
            assertThat(post("/orders/%2B", "s3cret", "new")).isEqualTo(400);
            assertThat(ctl(broker, "list").get(1)).matches("orders +http +file +running +smqtt +2 +1 +1 +0 +0 +2");
            assertThat(ctl(broker, "stop", "orders")).containsExactly("stopped orders");
            assertThatThrownBy(() -> post("/orders/17", "s3cret", "new")).isInstanceOf(IOException.class);
            assertThat(broker.report())
                    .contains("source orders: something is turned away: a request without the right token");
            broker.terminate();
            assertThat(broker.awaitExit(PATIENCE)).isZero();
        }
    }

    private List<String> ctl(BrokerProcess broker, String... arguments) {
        List<String> command = new ArrayList<>(List.of("ctl", "sources"));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--data", "data", "--set", "management.port=" + broker.port("management")));
        try (CapturedProcess process = BrokerProcess.run(directory, command.toArray(String[]::new))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
            return process.output();
        }
    }

    private int post(String path, String token, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Authorization", "Bearer " + token)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }
}
