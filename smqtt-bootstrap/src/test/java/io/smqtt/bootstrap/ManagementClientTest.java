// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.smqtt.config.ManagementConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ManagementClientTest {

    @TempDir
    Path directory;

    private final AtomicReference<String> authorization = new AtomicReference<>();
    private final AtomicReference<String> asked = new AtomicReference<>();
    private final AtomicReference<String> sent = new AtomicReference<>();
    private HttpServer server;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            authorization.set(exchange.getRequestHeaders().getFirst("Authorization"));
            asked.set(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            String type = exchange.getRequestHeaders().getFirst("Content-Type");
            sent.set(type + " " + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            String path = exchange.getRequestURI().getPath();
            if (path.endsWith("/gone")) {
                exchange.sendResponseHeaders(204, -1);
                exchange.close();
                return;
            }
            byte[] body = ("at " + path + "\n").getBytes(StandardCharsets.UTF_8);
            if (path.equals("/away")) {
                exchange.getResponseHeaders().set("Location", "/cluster");
            }
            exchange.sendResponseHeaders(path.equals("/away") ? 302 : path.equals("/secret") ? 401 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void end() {
        server.stop(0);
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private ManagementClient client(String tokenFile) {
        return ManagementClient.of(ManagementConfig.defaults(), url() + "/", tokenFile, null, directory, directory);
    }

    @Test
    void asksWithTheTokenOfTheFile() throws IOException {
        Files.writeString(directory.resolve("token"), "a-token\n");

        assertThat(client("token").get("/cluster", "text/plain")).isEqualTo("at /cluster\n");
        assertThat(authorization).hasValue("Bearer a-token");
        assertThat(client("token").base()).isEqualTo(url());
    }

    @Test
    void theConfigurationTellsWhomToAsk() throws IOException {
        ManagementConfig config = ManagementConfig.builder()
                .host("0.0.0.0")
                .port(server.getAddress().getPort())
                .tokenFile(Files.writeString(directory.resolve("configured"), "other"))
                .build();

        ManagementClient client = ManagementClient.of(config, null, null, null, directory, directory);

        assertThat(client.get("/metrics", "text/plain")).isEqualTo("at /metrics\n");
        assertThat(authorization).hasValue("Bearer other");
    }

    @Test
    void theTokenThatABrokerMadeIsForItAloneAndForWhatNeedsOne() throws IOException {
        Files.writeString(directory.resolve("management.token"), "made\n");
        ManagementConfig config =
                ManagementConfig.builder().port(server.getAddress().getPort()).build();
        ManagementClient own = ManagementClient.of(config, null, null, null, directory, directory);

        own.get("/api/v5/clients", "text/plain");
        assertThat(authorization).hasValue("Bearer made");
        own.get("/cluster", "text/plain");
        assertThat(authorization).hasNullValue();
        client(null).get("/api/v5/clients", "text/plain"); // of --url
        assertThat(authorization).hasNullValue();
    }

    @Test
    void theTokenOfTheConfigurationIsForItsBrokerAlone() throws IOException {
        ManagementConfig config = ManagementConfig.builder()
                .tokenFile(Files.writeString(directory.resolve("configured"), "other"))
                .build();

        ManagementClient.of(config, url(), null, null, directory, directory).get("/api/v5/clients", "text/plain");

        assertThat(authorization).hasNullValue();
    }

    @ParameterizedTest
    @CsvSource({
        "http://192.0.2.1:18083,token,true",
        "HTTP://192.0.2.1:18083,token,true",
        "http://[2001:db8::1]:18083,token,true",
        "https://192.0.2.1:18083,token,false",
        "http://192.0.2.1:18083,,false",
        "http://127.0.0.1:18083,token,false",
        "http://[::1]:18083,token,false",
        "http://localhost:18083,token,false"
    })
    void aTokenInTheClearOverANetworkIsToldOf(String url, @Nullable String tokenFile, boolean told) {
        String warning = ManagementClient.of(ManagementConfig.defaults(), url, tokenFile, null, directory, directory)
                .warning(null);

        assertThat(String.valueOf(warning).contains("in the clear")).isEqualTo(told);
    }

    @Test
    void aBodyIsSentAsJsonAndAnEmptyAnswerIsSuccess() throws IOException {
        client(null).send("PUT", "/api/v5/x", "application/json", "{}".getBytes(StandardCharsets.UTF_8));

        assertThat(asked).hasValue("PUT /api/v5/x");
        assertThat(sent).hasValue("application/json {}");
        assertThat(client(null).send("DELETE", "/api/v5/gone", "application/json", null))
                .isEmpty();
        assertThat(asked).hasValue("DELETE /api/v5/gone");
    }

    @Test
    void whoAsksMayBeSomebodyElseThanTheToken() throws IOException {
        Files.writeString(directory.resolve("token"), "a-token\n");

        client("token").as("Basic eA==").get("/api/v5/clients", "application/json");
        assertThat(authorization).hasValue("Basic eA==");
        client("token").as("").get("/api/v5/clients", "application/json");
        assertThat(authorization).hasNullValue();
    }

    @Test
    void whyThereIsNoTokenIsToldWithWhatToDo() throws IOException {
        ManagementClient own = ManagementClient.of(ManagementConfig.defaults(), null, null, null, directory, directory);
        assertThatThrownBy(() -> own.get("/api/v5/clients", "text/plain"))
                .isInstanceOf(TokenFileException.class)
                .hasMessageContainingAll("storage.kind: memory", "management.token-file", "--token-file");

        Path file = directory.resolve("management.token");
        assertThat(ManagementClient.unreadable(file, true, new AccessDeniedException("x")))
                .contains("ask as " + Files.getOwner(directory).getName(), "--token-file");
        assertThat(ManagementClient.unreadable(Path.of("/missing/folder/token"), true, new AccessDeniedException("x")))
                .contains("ask as the user that the broker runs as");
    }

    @Test
    void anythingButSuccessIsToldWithItsText() {
        assertThatThrownBy(() -> client(null).get("/secret", "text/plain"))
                .isInstanceOf(IOException.class)
                .hasMessage("it answered 401: at /secret");
        assertThatThrownBy(() -> client(null).get("/away", "text/plain"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("302");
    }

    @Test
    void aTokenThatCannotBeUsedIsTold() throws IOException {
        Files.writeString(directory.resolve("lines"), "one\ntwo\n");

        assertThatThrownBy(() -> client("missing").get("/cluster", "text/plain"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(directory.resolve("missing") + " cannot be read");
        assertThatThrownBy(() -> client("lines").get("/cluster", "text/plain"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("lines does not hold one line");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "file:/etc/passwd",
                "file:",
                "jar:http://x!/",
                "127.0.0.1:18083",
                "http://",
                "http://a b",
                "ftp://host",
                "http://user:secret@host",
                "http://host/?q=1",
                ""
            })
    void whatIsNoUrlOfHttpIsRefused(String url) {
        assertThatThrownBy(
                        () -> ManagementClient.of(ManagementConfig.defaults(), url, null, null, directory, directory))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--url must be like http://127.0.0.1:18083");
    }

    @Test
    void aUrlWithAUserIsRefusedWithWhatToDo() {
        assertThatThrownBy(() -> ManagementClient.of(
                        ManagementConfig.defaults(), "http://user:secret@host:1", null, null, directory, directory))
                .hasMessageEndingWith(", without a user and password: --token-file, --user and --api-key say who asks")
                .hasMessageNotContaining("secret");
    }
}
