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

/** The examples of {@code docs/access-http.md}: their servers, configurations and commands, with the real program. */
class AccessHttpIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String TOKEN = "a-token-of-the-access-test-0123456789";
    private static final String SERVER = "127.0.0.1:8090";

    @TempDir
    Path directory;

    private DocumentPage page = new DocumentPage("");
    private int port;
    private CapturedProcess server;
    private CapturedProcess plugin;
    private BrokerProcess broker;

    @BeforeEach
    void start() throws IOException {
        page = DocumentPage.read("access-http.md");
        port = LoopbackPorts.one();
        int pluginPort = LoopbackPorts.one();
        Files.writeString(directory.resolve("auth.py"), page.block("python", 0).replace("8090", String.valueOf(port)));
        Files.writeString(
                directory.resolve("plugin.py"), page.block("python", 1).replace("8091", String.valueOf(pluginPort)));
        Path token = Files.writeString(directory.resolve("token"), TOKEN);
        startServer();
        plugin = start("plugin.py", pluginPort);
        broker = LoopbackBroker.with(
                directory,
                both().replace(SERVER, "127.0.0.1:" + port).replace("127.0.0.1:8091", "127.0.0.1:" + pluginPort),
                "storage.kind=memory",
                "management.token-file=" + token);
    }

    /** The backends of both examples in one chain, the second one last. */
    private String both() {
        String second = page.block("yaml", 1);
        return page.block("yaml", 0).replace("chain: [people]", "chain: [people, plugin]")
                + second.substring(second.indexOf("    plugin:"));
    }

    @AfterEach
    void stop() {
        if (broker != null) {
            broker.close();
        }
        if (plugin != null) {
            plugin.close();
        }
        server.close();
    }

    private void startServer() {
        server = start("auth.py", port);
    }

    private CapturedProcess start(String program, int listening) {
        CapturedProcess started = CapturedProcess.start(
                program, new ProcessBuilder(ForeignProgram.path("python3"), program).directory(directory.toFile()));
        await().atMost(PATIENCE).until(() -> isListening(listening));
        return started;
    }

    private static boolean isListening(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void commandsOfThePageGetTheirAnswers() {
        page.assertPublishAnswers(10, options -> publish(options.split(" ")));
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
