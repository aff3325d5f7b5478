// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SourceConfig;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

class HttpSourceTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @TempDir
    Path folder;

    private final Output output = new Output();
    private HttpSource source;
    private Disposable run;

    /** Keeps what arrives. */
    private static final class Output implements SourceOutput {

        final List<Map<String, Object>> arrived = new CopyOnWriteArrayList<>();
        final List<String> rejected = new CopyOnWriteArrayList<>();
        volatile boolean paused;
        volatile boolean works;
        volatile @Nullable Mono<Boolean> answer = Mono.just(true);

        @Override
        public Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
            arrived.add(columns);
            return answer;
        }

        @Override
        public boolean isPaused() {
            return paused;
        }

        @Override
        public void rejected(String reason) {
            rejected.add(reason);
        }

        @Override
        public void failing(String reason) {}

        @Override
        public void working() {
            works = true;
        }
    }

    private static HttpSource open(String... pairs) {
        return openTo("t", pairs);
    }

    private static HttpSource openTo(String topic, String... pairs) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            values.put(pairs[i], new ConfigValue(pairs[i + 1], "test", Path.of("")));
        }
        SourceConfig config = SourceConfig.builder("http", topic).inflight(2).build();
        return new HttpSource(new SourceContext(
                "s", config, SinkSettings.of("sources.s.", new HttpSourceFactory().settings(), values)));
    }

    @BeforeEach
    void begin() throws IOException {
        String token = Files.writeString(folder.resolve("token"), "the-token\n").toString();
        source = open(
                "port",
                "0",
                "path",
                "/in",
                "token-file",
                token,
                "max-body",
                "64",
                "max-memory",
                "100",
                "timeout",
                "1s");
        run = source.run(output).subscribe();
        await().atMost(PATIENCE).until(() -> output.works);
    }

    @AfterEach
    void end() {
        run.dispose();
        source.close();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + source.port() + path))
                .timeout(PATIENCE)
                .header("Authorization", "Bearer the-token");
    }

    private static int send(HttpRequest request) throws Exception {
        return CLIENT.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }

    private int post(String path, byte[] body) throws Exception {
        return send(
                request(path).POST(HttpRequest.BodyPublishers.ofByteArray(body)).build());
    }

    private int post(String path, String body) throws Exception {
        return post(path, body.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aRequestIsAnsweredWhenItsMessageIsPublished() throws Exception {
        HttpRequest request = request("/in/plant/7?id=a%20b&id=c")
                .header("X-Kind", "new")
                .POST(HttpRequest.BodyPublishers.ofString("{\"t\": 1}"))
                .build();

        assertThat(send(request)).isEqualTo(204);
        Map<String, Object> columns = output.arrived.get(0);
        assertThat(columns)
                .containsEntry("payload", "{\"t\": 1}")
                .containsEntry("path", "plant/7")
                .containsEntry("peerhost", "127.0.0.1")
                .containsEntry("query", Map.of("id", "a b"));
        assertThat(columns.get("headers").toString()).contains("x-kind=new").doesNotContain("the-token");
        assertThat(post("/in", new byte[] {0, -1})).isEqualTo(204);
        assertThat((byte[]) output.arrived.get(1).get("payload")).containsExactly(0, -1);
    }

    @Test
    void othersAreRefused() throws Exception {
        assertThat(post("/elsewhere", "x")).isEqualTo(404);
        assertThat(post("/inside", "x")).isEqualTo(404);
        assertThat(send(request("/in").GET().build())).isEqualTo(405);
        for (String wrong : List.of("Bearer other", "Basic the-token", "")) {
            HttpRequest request = request("/in")
                    .setHeader("Authorization", wrong)
                    .POST(HttpRequest.BodyPublishers.ofString("x"))
                    .build();
            assertThat(send(request)).isEqualTo(401);
        }
        assertThat(post("/in", "x".repeat(65))).isEqualTo(413);
        HttpRequest chunked = request("/in")
                .POST(HttpRequest.BodyPublishers.ofInputStream(
                        () -> new java.io.ByteArrayInputStream(new byte[10_000])))
                .build();
        assertThat(send(chunked)).isEqualTo(413);
        assertThat(output.arrived).isEmpty();
        assertThat(output.rejected)
                .hasSize(8)
                .contains(
                        "a request for another path",
                        "a request that is no POST",
                        "a request without the right token or signature",
                        "a request whose body is larger than max-body");
        assertThat(post("/in", "x".repeat(64))).isEqualTo(204);
    }

    @Test
    void aSlowBodyIsNotWaitedFor() throws Exception {
        try (Socket socket = new Socket("127.0.0.1", source.port())) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            socket.getOutputStream()
                    .write(
                            ("POST /in HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer the-token\r\nContent-Length: 9\r\n\r\nabc")
                                    .getBytes(StandardCharsets.US_ASCII));
            byte[] answer = new byte[12];
            assertThat(socket.getInputStream().readNBytes(answer, 0, 12)).isEqualTo(12);
            assertThat(new String(answer, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 408");
        }
    }

    @Test
    void aFailureAndABrokerThatIsFullAreForLater() throws Exception {
        output.answer = Mono.error(new IllegalStateException("disk full"));
        assertThat(post("/in", "x")).isEqualTo(503);
        output.answer = Mono.just(false);
        assertThat(post("/in", "x")).isEqualTo(400);
        output.paused = true;
        HttpResponse<Void> busy = CLIENT.send(
                request("/in").POST(HttpRequest.BodyPublishers.ofString("x")).build(),
                HttpResponse.BodyHandlers.discarding());
        assertThat(busy.statusCode()).isEqualTo(503);
        assertThat(busy.headers().firstValue("retry-after")).contains("1");
        assertThat(output.arrived).hasSize(2);
    }

    @Test
    void noMoreRequestsAreTakenThanMessagesMayBeInFlight() throws Exception {
        Sinks.One<Boolean> stored = Sinks.one();
        output.answer = stored.asMono();
        HttpRequest request =
                request("/in").POST(HttpRequest.BodyPublishers.ofString("x")).build();
        List<CompletableFuture<HttpResponse<Void>>> waiting = List.of(
                CLIENT.sendAsync(request, HttpResponse.BodyHandlers.discarding()),
                CLIENT.sendAsync(request, HttpResponse.BodyHandlers.discarding()));
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 2);

        assertThat(send(request)).isEqualTo(503);
        stored.tryEmitValue(true);
        for (CompletableFuture<HttpResponse<Void>> one : waiting) {
            assertThat(one.get(20, java.util.concurrent.TimeUnit.SECONDS).statusCode())
                    .isEqualTo(204);
        }
        assertThat(send(request)).isEqualTo(204);
    }

    @Test
    void bodiesHaveRoomUntilTheBrokerHasThem() throws Exception {
        Sinks.One<Boolean> answer = Sinks.one();
        output.answer = answer.asMono();
        CompletableFuture<HttpResponse<Void>> first = CLIENT.sendAsync(
                request("/in")
                        .POST(HttpRequest.BodyPublishers.ofString("x".repeat(60)))
                        .build(),
                HttpResponse.BodyHandlers.discarding());
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 1);
        assertThat(post("/in", "x".repeat(41))).isEqualTo(503);
        assertThat(output.rejected)
                .containsExactly("a request beyond inflight or max-memory, or while the broker is full");

        answer.tryEmitValue(true);
        assertThat(first.get(20, java.util.concurrent.TimeUnit.SECONDS).statusCode())
                .isEqualTo(204);
        assertThat(post("/in", "x".repeat(41))).isEqualTo(204);
    }

    @Test
    void aRequestWhoseSenderHasLeftKeepsItsRoom() throws Exception {
        Sinks.One<Boolean> answer = Sinks.one();
        output.answer = answer.asMono();
        for (int i = 1; i <= 2; i++) {
            try (Socket socket = new Socket("127.0.0.1", source.port())) {
                socket.getOutputStream()
                        .write(
                                ("POST /in HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer the-token\r\nContent-Length: 3\r\n\r\nabc")
                                        .getBytes(StandardCharsets.US_ASCII));
                int sent = i;
                await().atMost(PATIENCE).until(() -> output.arrived.size() == sent);
            }
        }
        assertThat(post("/in", "x")).isEqualTo(503);
        answer.tryEmitValue(true);
        assertThat(post("/in", "x")).isEqualTo(204);
    }

    @Test
    void aSignatureIsChecked() throws Exception {
        run.dispose();
        source.close();
        output.works = false;
        String secret = Files.writeString(folder.resolve("secret"), "common\n").toString();
        source = open("port", "0", "path", "/in", "signature-secret-file", secret);
        run = source.run(output).subscribe();
        await().atMost(PATIENCE).until(() -> output.works);

        long now = System.currentTimeMillis() / 1_000;
        assertThat(signed(now, "body", "body")).isEqualTo(204);
        assertThat(signed(now, "body", "other")).isEqualTo(401);
        assertThat(signed(now - 301, "body", "body")).isEqualTo(401);
        assertThat(post("/in", "body")).isEqualTo(401);
        assertThat(output.arrived).hasSize(1);
        assertThat(output.arrived.get(0).get("headers").toString()).doesNotContain("sha256=");
    }

    /** Sends a body with the signature of perhaps another one. */
    private int signed(long time, String body, String signedBody) throws Exception {
        return send(signedRequest(time, body, signedBody));
    }

    private CompletableFuture<HttpResponse<Void>> sendSigned(long time, String body) throws Exception {
        return CLIENT.sendAsync(signedRequest(time, body, body), HttpResponse.BodyHandlers.discarding());
    }

    private HttpRequest signedRequest(long time, String body, String signedBody) throws Exception {
        javax.crypto.Mac mac = javax.crypto.Mac.getInstance("HmacSHA256");
        mac.init(new javax.crypto.spec.SecretKeySpec("common".getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        byte[] hash = mac.doFinal((time + "." + signedBody).getBytes(StandardCharsets.UTF_8));
        return request("/in")
                .header("x-smqtt-timestamp", String.valueOf(time))
                .header("x-smqtt-signature", "sha256=" + HexFormat.of().formatHex(hash))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    /** Ends the source of all tests, and begins another one. */
    private void instead(String... pairs) {
        run.dispose();
        source.close();
        output.works = false;
        source = open(pairs);
        run = source.run(output).subscribe();
        await().atMost(PATIENCE).until(() -> output.works);
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket("127.0.0.1", source.port());
        socket.setSoTimeout((int) PATIENCE.toMillis());
        return socket;
    }

    /** Sends a request, and returns the first line of its answer. */
    private static String exchange(Socket socket, String headers) throws IOException {
        socket.getOutputStream()
                .write(("POST / HTTP/1.1\r\nHost: a\r\n" + headers + "Content-Length: 1\r\n\r\nx")
                        .getBytes(StandardCharsets.US_ASCII));
        StringBuilder answer = new StringBuilder();
        for (int c = socket.getInputStream().read();
                c >= 0;
                c = socket.getInputStream().read()) {
            answer.append((char) c);
            if (answer.indexOf("\r\n\r\n") >= 0) {
                break;
            }
        }
        return answer.toString().lines().findFirst().orElse("nothing");
    }

    @Test
    void connectionsAreLimitedAndNotTheirRequests() throws Exception {
        instead("port", "0", "max-connections", "2");
        try (Socket busy = connect();
                Socket idle = connect()) {
            for (int i = 0; i < 10; i++) {
                assertThat(exchange(busy, "")).isEqualTo("HTTP/1.1 204 No Content");
            }
            try (Socket third = connect()) {
                assertThat(third.getInputStream().read()).isEqualTo(-1);
            }
            assertThat(output.rejected).containsExactly("a connection beyond max-connections");
            idle.close();
            await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> {
                try (Socket next = connect()) {
                    assertThat(exchange(next, "")).isEqualTo("HTTP/1.1 204 No Content");
                }
            });
        }
    }

    @Test
    void aForgedSignatureTakesNoPlace() throws Exception {
        String secret = Files.writeString(folder.resolve("secret"), "common\n").toString();
        instead("port", "0", "path", "/in", "signature-secret-file", secret);
        long now = System.currentTimeMillis() / 1_000;
        String forged = "POST /in HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nx-smqtt-timestamp: " + now
                + "\r\nx-smqtt-signature: sha256=" + "0".repeat(64) + "\r\n\r\nabc";
        try (Socket first = connect();
                Socket second = connect()) {
            for (Socket socket : List.of(first, second)) {
                socket.getOutputStream().write(forged.getBytes(StandardCharsets.US_ASCII));
            }
            assertThat(signed(now, "body", "body")).isEqualTo(204); // though inflight is 2
            first.getOutputStream().write("defghi".getBytes(StandardCharsets.US_ASCII));
            byte[] answer = first.getInputStream().readNBytes(12);
            assertThat(new String(answer, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 401");
        }
        Sinks.One<Boolean> stored = Sinks.one();
        output.answer = stored.asMono();
        List<CompletableFuture<HttpResponse<Void>>> waiting = List.of(sendSigned(now, "a"), sendSigned(now, "b"));
        await().atMost(PATIENCE).until(() -> output.arrived.size() == 3);
        assertThat(signed(now, "body", "body")).isEqualTo(503);
        stored.tryEmitValue(true);
        for (CompletableFuture<HttpResponse<Void>> one : waiting) {
            assertThat(one.get(20, java.util.concurrent.TimeUnit.SECONDS).statusCode())
                    .isEqualTo(204);
        }
        assertThat(signed(now, "body", "body")).isEqualTo(204);
    }

    @Test
    void anErrorOfTheBrokerIsToldToOperators() throws Exception {
        output.answer = null;
        assertThat(post("/in", "x")).isEqualTo(503);
        assertThat(output.rejected).containsExactly("a request that could not be handled");
    }

    @Test
    void whatIsNoHttpIsAnsweredWithoutAWordInTheLog() throws Exception {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger root = (Logger) LoggerFactory.getLogger("reactor.netty");
        log.start();
        root.addAppender(log);
        try {
            for (String text : List.of("nonsense\r\n\r\n", "POST / HTTP/1.1\r\nHost\u0000: a\r\n\r\nmore")) {
                try (Socket socket = connect()) {
                    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
                    byte[] answer = socket.getInputStream().readAllBytes();
                    assertThat(new String(answer, StandardCharsets.US_ASCII))
                            .startsWith("HTTP/1.1 400 Bad Request\r\n")
                            .endsWith("\r\n\r\n");
                }
            }
            assertThat(output.rejected).containsExactly("a request that is no HTTP", "a request that is no HTTP");
            for (String half : List.of(
                    "POST /in HTTP/1.1\r\nHos",
                    "POST /in HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer the-token\r\nContent-Length: 9\r\n\r\nabc",
                    "POST /in HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer the-token\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n")) {
                try (Socket socket = connect()) {
                    socket.getOutputStream().write(half.getBytes(StandardCharsets.US_ASCII));
                    socket.shutdownOutput();
                    socket.getInputStream().readAllBytes();
                }
            }
            assertThat(post("/in", "x")).isEqualTo(204);
            assertThat(log.list)
                    .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                    .isEmpty();
        } finally {
            root.detachAppender(log);
        }
    }

    @Test
    void whatIsNoHttpIsAnsweredAfterTheRequestsBefore() throws Exception {
        String request = "POST /in HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer the-token\r\n";
        String good = request + "Content-Length: 1\r\n\r\nx";
        String brokenBody = request + "Transfer-Encoding: chunked\r\n\r\nzzz\r\n";
        Map<String, List<String>> answers = Map.of(
                "nonsense\r\n\r\n",
                List.of("HTTP/1.1 204 No Content", "HTTP/1.1 400 Bad Request"),
                brokenBody,
                List.of("HTTP/1.1 204 No Content"));
        for (String after : answers.keySet()) {
            Sinks.One<Boolean> stored = Sinks.one();
            output.answer = stored.asMono();
            output.rejected.clear();
            try (Socket socket = connect()) {
                socket.getOutputStream().write((good + after).getBytes(StandardCharsets.US_ASCII));
                await().atMost(PATIENCE).until(() -> output.rejected.contains("a request that is no HTTP"));
                stored.tryEmitValue(true);
                byte[] all = socket.getInputStream().readAllBytes();
                assertThat(new String(all, StandardCharsets.US_ASCII).lines().filter(line -> line.startsWith("HTTP/")))
                        .containsExactlyElementsOf(answers.get(after));
            }
        }
    }

    @Test
    void aConnectionWithoutARequestIsClosed() throws Exception {
        instead("port", "0", "timeout", "100ms");
        try (Socket socket = connect()) {
            socket.getOutputStream().write("POST / HTTP/1.1\r\nHos".getBytes(StandardCharsets.US_ASCII));
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void aWebPageNeedsTheToken() throws Exception {
        try (Socket socket = connect()) {
            assertThat(exchange(socket, "Origin: http://a\r\nAuthorization: Bearer the-token\r\n"))
                    .isEqualTo("HTTP/1.1 404 Not Found"); // its path is another one
        }
        assertThat(send(request("/in")
                        .header("Origin", "http://a")
                        .POST(HttpRequest.BodyPublishers.ofString("x"))
                        .build()))
                .isEqualTo(204);
        instead("port", "0");
        try (Socket socket = connect()) {
            assertThat(exchange(socket, "")).isEqualTo("HTTP/1.1 204 No Content");
            assertThat(exchange(socket, "Origin: http://a\r\n")).isEqualTo("HTTP/1.1 403 Forbidden");
        }
        assertThat(output.rejected).last().isEqualTo("a request of a web page without a token");
    }

    @Test
    void aSignatureDoesNotProtectWhatItIsNotFor() throws Exception {
        String secret = Files.writeString(folder.resolve("secret"), "common\n").toString();
        for (String topic : List.of("a/${path}", "${query.id}", "a/${headers.x}", "${.}")) {
            assertThatThrownBy(() -> openTo(topic, "signature-secret-file", secret))
                    .hasMessageContaining("signature-secret-file is for the body alone");
        }
        openTo("a/${payload.id}", "signature-secret-file", secret).close();
        String token = folder.resolve("token").toString();
        openTo("a/${path}", "signature-secret-file", secret, "token-file", token)
                .close();
    }

    @Test
    void aRunTellsOfItsEnd() {
        int before = source.port();
        assertThatThrownBy(() -> source.ended().block(Duration.ofMillis(1))).isInstanceOf(IllegalStateException.class);
        run.dispose();
        source.ended().block(PATIENCE);
        assertThatThrownBy(() -> new Socket("127.0.0.1", before).close()).isInstanceOf(java.net.ConnectException.class);
    }

    /** The caller may be an event loop. */
    @Test
    void closingWaitsForNothing() {
        String thread = "smqtt-source-s-";
        assertThat(Thread.getAllStackTraces().keySet())
                .anyMatch(each -> each.getName().startsWith(thread));
        run.dispose();

        Mono.fromRunnable(source::close).subscribeOn(Schedulers.parallel()).block(PATIENCE);

        await().atMost(PATIENCE)
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(each -> each.getName().startsWith(thread)));
    }

    @Test
    void aProbeSaysWhetherItListens() {
        source.check().block(PATIENCE);
        run.dispose();
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThatThrownBy(() -> source.check().block(PATIENCE))
                        .hasMessage("it does not listen on this node"));
    }

    @Test
    void aRunEndsAndAnotherOneBegins() throws Exception {
        int before = source.port();
        run.dispose();
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThatThrownBy(() -> new Socket("127.0.0.1", before).close())
                        .isInstanceOf(java.net.ConnectException.class));
        output.works = false;

        run = source.run(output).subscribe();
        await().atMost(PATIENCE).until(() -> output.works);
        assertThat(post("/in", "again")).isEqualTo(204);
    }

    @Test
    void aPortThatIsTakenIsAFailure() {
        HttpSource second = open("port", String.valueOf(source.port()));

        assertThatThrownBy(() -> second.run(output).block(PATIENCE)).hasMessageContaining("Failed to bind");
        second.close();
    }

    @Test
    void settingsThatContradictEachOtherStopTheStart() {
        assertThatThrownBy(() -> open("host", "0.0.0.0"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("host needs token-file or signature-secret-file");
        for (String other : List.of("127.example.org", "127.0.0.1.example.org", "::12")) {
            assertThatThrownBy(() -> open("host", other)).hasMessageContaining("host needs token-file");
        }
        open("host", "127.0.0.2").close();
        assertThatThrownBy(() -> open("max-body", "2MiB", "max-memory", "1MiB"))
                .hasMessageContaining("max-memory must not be less than max-body");
        assertThatThrownBy(() -> open("path", "in")).hasMessageContaining("path must begin with a slash");
        assertThatThrownBy(() -> open("certificate", folder.resolve("none").toString()))
                .hasMessageContaining("must be set together");
    }
}
