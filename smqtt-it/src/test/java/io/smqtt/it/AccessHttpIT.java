// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of {@code docs/access-http.md}: its server, its configuration and its commands, with the real program. */
class AccessHttpIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String TOKEN = "a-token-of-the-access-test-0123456789";
    private static final String SERVER = "127.0.0.1:8090";

    @TempDir
    Path directory;

    private DocumentPage page = new DocumentPage("");
    private int port;
    private CapturedProcess server;
    private BrokerProcess broker;

    @BeforeEach
    void start() throws IOException {
        page = DocumentPage.read("access-http.md");
        port = LoopbackPorts.one();
        Files.writeString(directory.resolve("auth.py"), page.block("python", 0).replace("8090", String.valueOf(port)));
        Path token = Files.writeString(directory.resolve("token"), TOKEN);
        startServer();
        broker = LoopbackBroker.with(
                directory,
                page.block("yaml", 0).replace(SERVER, "127.0.0.1:" + port),
                "storage.kind=memory",
                "management.token-file=" + token);
    }

    @AfterEach
    void stop() {
        broker.close();
        server.close();
    }

    private void startServer() {
        server = CapturedProcess.start(
                "auth.py", new ProcessBuilder(ForeignProgram.path("python3"), "auth.py").directory(directory.toFile()));
        await().atMost(PATIENCE).until(this::isListening);
    }

    private boolean isListening() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void commandsOfThePageGetTheirAnswers() {
        page.assertPublishAnswers(6, options -> publish(options.split(" ")));
    }

    @Test
    void clientsAreRefusedWhileTheServerIsAwayAndAcceptedWhenItIsBack() {
        server.close();
        assertThat(publish("-V", "5", "-q", "1", "-u", "ann", "-P", "secret", "-t", "open/x", "-m", "1"))
                .containsIgnoringCase("server unavailable");

        startServer();

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(
                                publish("-V", "5", "-q", "1", "-u", "ann", "-P", "secret", "-t", "open/x", "-m", "1"))
                        .isEmpty());
    }

    @Test
    void answersAreForgottenOnRequestAndOnReload() {
        publishAsAnn();
        await().atMost(PATIENCE).until(() -> questions() == 1);
        publishAsAnn();

        RestApi.Reply reply = RestApi.of(broker).token(TOKEN).delete("/authentication/cache");
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.json().at("/data/0/cleared").asLong()).isPositive();
        publishAsAnn();
        await().atMost(PATIENCE).until(() -> questions() >= 2);
        assertThat(questions()).as("the second time the answer was known").isEqualTo(2);

        broker.signal("HUP");
        await().atMost(PATIENCE).until(() -> {
            publishAsAnn();
            return questions() == 3;
        });
    }

    private void publishAsAnn() {
        assertThat(publish(
                        "-V", "5", "-q", "1", "-i", "a1", "-u", "ann", "-P", "secret", "-t", "sites/s1/x", "-m", "1"))
                .isEmpty();
    }

    /** How often the server was asked about clients, by its log. */
    private long questions() {
        return server.output().stream()
                .filter(line -> line.contains("/mqtt/user"))
                .count();
    }

    /** What the command says, without its exit code, which differs from release to release. */
    private String publish(String... options) {
        return MosquittoPub.run(broker, options);
    }
}
