// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.admin.account.AccountCallers;
import io.smqtt.admin.account.Accounts;
import io.smqtt.admin.account.Callers;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.Api;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.security.Audit;
import io.smqtt.admin.security.AuditSettings;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ManagementConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The router behind the HTTP server. */
class ApiPortTest {

    private static final String TOKEN = "0123456789abcdef-secret";
    /** With 1 MiB for bodies, and 2 MiB for answers. */
    private static final long SMALL_HEAP = 32L << 20;

    private static final int LARGE = 16 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final CountDownLatch cancelled = new CountDownLatch(1);
    private final HttpClient http = HttpClient.newHttpClient();
    private ManagementServer server;

    @BeforeEach
    void serve() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        BrokerConfig config = BrokerConfig.builder()
                .management(ManagementConfig.builder().port(0).tokenFile(file).build())
                .build();
        ManagementToken token = ManagementToken.of(config);
        Accounts accounts = new Accounts(new LiveObjects(), System::nanoTime, InstantSource.system(), 1);
        Callers callers = new AccountCallers(accounts, token::accepts, List.of(), false);
        server = new ManagementServer(
                config.management(),
                token,
                new BrokerView(),
                false,
                ManagementServer.FIRST_REQUEST,
                new ManagementServer.Limits(SMALL_HEAP, Duration.ofSeconds(1)));
        Api api = new Api(
                List.of("/api/v5"),
                callers,
                List.of(() -> List.of(
                        Route.post(
                                "/echo",
                                Role.PUBLISHER,
                                request -> Mono.just(
                                        ApiAnswer.json(201, request.fields().text("a"))
                                                .with("X-Who", request.known().name()))),
                        Route.get(
                                "/large",
                                Role.VIEWER,
                                request ->
                                        Mono.just(ApiAnswer.content(200, "application/octet-stream", new byte[LARGE]))),
                        Route.delete("/it", Role.OPERATOR, request -> Mono.just(ApiAnswer.noContent())),
                        Route.get(
                                "/stream",
                                Role.VIEWER,
                                request -> Mono.just(ApiAnswer.stream(
                                        "text/event-stream",
                                        Flux.interval(Duration.ofMillis(10))
                                                .map(n -> ("data: " + n + "\n\n").getBytes(StandardCharsets.UTF_8))
                                                .doOnCancel(cancelled::countDown)))))),
                List.of());
        Audit audit = new Audit(new AuditSettings(null, 1, 1), () -> "n1", InstantSource.system());
        server.mount(new AdminParts(List.of(), List.of(), List.of(api), null, audit, authorization -> false));
        server.bind().block(PATIENCE);
    }

    @AfterEach
    void close() {
        server.close().block(PATIENCE);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                        + Objects.requireNonNull(server.address()).getPort() + "/api/v5" + path))
                .timeout(PATIENCE)
                .header("Authorization", "Bearer " + TOKEN);
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void aBodyIsReadAndTheAnswerSent() throws Exception {
        HttpResponse<String> answer = send(request("/echo")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"a\":\"é\"}")));

        assertThat(answer.statusCode()).isEqualTo(201);
        assertThat(answer.body()).isEqualTo("\"é\"");
        assertThat(answer.headers().firstValue("x-who")).hasValue("token");
        assertThat(answer.headers().firstValue("cache-control")).hasValue("no-store");
    }

    @Test
    void aBodyThatIsTooLargeIsRefused() throws Exception {
        HttpResponse<String> answer = send(request("/echo")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[Route.BODY_BYTES + 1])));

        assertThat(answer.statusCode()).isEqualTo(413);
        assertThat(answer.body()).contains("BODY_TOO_LARGE");
    }

    /** A connection that sends text and nothing more. */
    private Socket sends(String text) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4_096);
        socket.connect(Objects.requireNonNull(server.address()));
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        return socket;
    }

    private static String head(String line, int bodyBytes) {
        return line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + TOKEN
                + "\r\nContent-Type: application/json\r\nContent-Length: " + bodyBytes + "\r\n\r\n";
    }

    private HttpResponse<String> echo(int bytes) throws Exception {
        String body = "{\"a\":\"" + "x".repeat(bytes) + "\"}";
        return send(request("/echo")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    @Test
    void bodiesThatAreOnTheirWayLeaveTheHeapToTheBroker() throws Exception {
        int most = Route.BODY_BYTES;
        try (Socket slow = sends(head("POST /api/v5/echo", most) + "x".repeat(most - 1))) {
            assertThat(slow.isConnected()).isTrue();
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(server.memory().held()).isGreaterThan(most - 2L * ManagementMemory.FREE_BYTES));
            HttpResponse<String> refused = echo(most / 2);

            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.headers().firstValue("retry-after")).hasValue("1");
            assertThat(echo(1_000).statusCode()).isEqualTo(201);
        }
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(server.memory().held()).isZero());
        assertThat(echo(most / 2).statusCode()).isEqualTo(201);
    }

    @Test
    void whoDoesNotReadALargeAnswerIsDisconnected() throws Exception {
        try (Socket slow = sends(head("GET /api/v5/large", 0));
                InputStream answer = slow.getInputStream()) {
            slow.setSoTimeout((int) PATIENCE.toMillis());
            assertThat(answer.read()).isEqualTo('H');
            assertThat(server.memory().held()).isGreaterThan(LARGE - 2L * ManagementMemory.FREE_BYTES);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(server.memory().held()).isZero());

            assertThat(restOf(answer)).isLessThan(LARGE);
        }
    }

    private static long restOf(InputStream answer) {
        try {
            return answer.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            return 0; // the connection was reset
        }
    }

    @Test
    void largeAnswersShareALimit() throws Exception {
        ManagementMemory.Share other = server.memory().share();
        assertThat(other.answer(LARGE)).isTrue();
        HttpResponse<String> refused = send(request("/large"));
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("retry-after")).hasValue("1");

        other.release();
        assertThat(send(request("/large")).body()).hasSize(LARGE);
    }

    @Test
    void successWithoutContentHasNoContentType() throws Exception {
        HttpResponse<String> answer = send(request("/it").DELETE());

        assertThat(answer.statusCode()).isEqualTo(204);
        assertThat(answer.body()).isEmpty();
        assertThat(answer.headers().firstValue("content-type")).isEmpty();
    }

    @Test
    void aStreamIsSentElementByElementAndCancelledWithItsConnection() throws Exception {
        HttpResponse<InputStream> answer =
                http.send(request("/stream").build(), HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream events = answer.body()) {
            assertThat(new String(events.readNBytes(18), StandardCharsets.UTF_8))
                    .isEqualTo("data: 0\n\ndata: 1\n\n");
        }

        assertThat(cancelled.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void headHasTheHeadersOnly() throws Exception {
        HttpResponse<String> answer = send(request("/stream").method("HEAD", HttpRequest.BodyPublishers.noBody()));

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEmpty();
    }

    @Test
    void aRunningBrokerTellsItsStatusToAnybody() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            assertThat(broker.get("/api/v5/status").body()).isEqualTo("Node smqtt is started\nsmqtt is running");
            assertThat(broker.get("/api/v1/status?format=json").body()).contains("\"app_status\":\"running\"");
            assertThat(broker.get("/api/v5/status?format=xml").statusCode()).isEqualTo(400);
            assertThat(broker.get("/api/v5/other").statusCode()).isEqualTo(404);
        }
    }
}
