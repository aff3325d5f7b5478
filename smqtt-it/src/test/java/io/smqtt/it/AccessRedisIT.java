// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of {@code docs/access-redis.md}: its data, configuration and commands; then TLS, a sentinel, a cluster, and a server that dies. */
class AccessRedisIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String SERVER = "127.0.0.1:6379";
    private static final String USER = """
            HSET mqtt_user:%1$s password_hash secret
            HSET mqtt_acl:%1$s of/${username} all
            """;

    /** Each is asked about the users with its prefix. */
    private static final String BACKENDS = """
                secure:
                  type: redis
                  user-prefix: tls-
                  url: rediss://localhost:%1$d
                  ca: %2$s
                  username: smqtt
                  password: searcher
                  hash: {name: plain}
                stranger:
                  type: redis
                  user-prefix: other-
                  url: rediss://localhost:%1$d
                misnamed:
                  type: redis
                  user-prefix: name-
                  url: rediss://localhost:%3$d
                  ca: %2$s
                watched:
                  type: redis
                  user-prefix: sentinel-
                  url: redis://127.0.0.1:%4$d
                  mode: sentinel
                  sentinel-master: main
                  username: smqtt
                  password: searcher
                  hash: {name: plain}
                nodes:
                  type: redis
                  user-prefix: cluster-
                  url: redis://127.0.0.1:%5$d
                  mode: cluster
                  hash: {name: plain}
            """;

    @TempDir
    static Path directory;

    private static final List<AutoCloseable> SERVERS = new ArrayList<>();
    private static DocumentPage page = new DocumentPage("");
    private static RedisServer server;
    private static BrokerProcess broker;

    @BeforeAll
    static void start() throws IOException {
        page = DocumentPage.read("access-redis.md");
        TestCertificates certificates = TestCertificates.in(directory);
        int tlsPort = LoopbackPorts.one();
        server = opened(RedisServer.start(directory, certificates, tlsPort));
        RedisServer cluster = opened(RedisServer.cluster(Files.createDirectory(directory.resolve("cluster"))));
        RedisServer sentinel =
                opened(RedisServer.sentinel(Files.createDirectory(directory.resolve("sentinel")), server));
        load();
        cluster.loadAll(USER.formatted("cluster-1"));
        String access = page.block("yaml", 0)
                .replace(SERVER, "127.0.0.1:" + server.port())
                .replace("chain: [", "chain: [secure, stranger, misnamed, watched, nodes, ");
        String backends = BACKENDS.formatted(
                tlsPort, certificates.authority(), misnamedServer(certificates), sentinel.port(), cluster.port());
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), access + backends + """
                        management:
                          port: 0
                        storage:
                          kind: memory
                        listeners:
                          tcp:
                            host: 127.0.0.1
                            port: 0
                          ws:
                            enabled: false
                        """);
        broker = opened(BrokerProcess.start(Extensions.command("smqtt-access-redis", directory, file)));
    }

    private static <T extends AutoCloseable> T opened(T process) {
        SERVERS.add(0, process);
        return process;
    }

    private static void load() {
        server.loadAll(page.block("redis", 0));
        server.loadAll(USER.formatted("tls-1") + USER.formatted("sentinel-1"));
    }

    /** Starts a server with a certificate of the authority that is not for its name, and returns its port. */
    private static int misnamedServer(TestCertificates certificates) {
        certificates.renewNode("elsewhere");
        int port = LoopbackPorts.one();
        ProcessBuilder command = new ProcessBuilder(ForeignProgram.path("openssl"), "s_server", "-quiet");
        command.command().addAll(List.of("-accept", "127.0.0.1:" + port));
        command.command()
                .addAll(List.of("-cert", certificates.certificate("elsewhere").toString()));
        command.command().addAll(List.of("-key", certificates.key("elsewhere").toString()));
        opened(CapturedProcess.start("openssl", command));
        return port;
    }

    @AfterAll
    static void stop() throws Exception {
        for (AutoCloseable process : SERVERS) {
            process.close();
        }
    }

    @Test
    void commandsOfThePageGetTheirAnswers() {
        page.assertPublishAnswers(12, options -> MosquittoPub.run(broker, options.split(" ")));
    }

    @Test
    void usersAreReadOverTlsByASentinelAndFromACluster() {
        for (String user : List.of("tls-1", "sentinel-1", "cluster-1")) {
            assertThat(publish("-u", user, "-P", "secret", "-t", "of/" + user))
                    .as(user)
                    .isEmpty();
            assertThat(publish("-u", user, "-P", "secret", "-t", "of/other")).containsIgnoringCase("not authorized");
            assertThat(publish("-u", user, "-P", "wrong", "-t", "of/" + user))
                    .containsIgnoringCase("bad user name or password");
        }
    }

    @Test
    void aServerIsNotTrustedWithAnUnknownAuthorityOrTheNameOfAnother() {
        assertThat(publish("-u", "other-1", "-P", "secret", "-t", "of/other-1"))
                .containsIgnoringCase("server unavailable");
        assertThat(publish("-u", "name-1", "-P", "secret", "-t", "of/name-1"))
                .containsIgnoringCase("server unavailable");
        assertThat(broker.output())
                .anyMatch(line -> line.contains("backend stranger failed") && line.contains("certification path"))
                .anyMatch(line -> line.contains("backend misnamed failed") && line.contains("localhost"));
    }

    @Test
    void clientsAreRefusedWhileTheServerIsAwayAndAcceptedWhenItIsBack() {
        assertThat(publish("-u", "ann", "-P", "secret", "-t", "sites/s1/x", "-i", "before"))
                .isEmpty();
        server.kill();
        assertThat(publish("-u", "ann", "-P", "secret", "-t", "sites/s1/x", "-i", "during"))
                .containsIgnoringCase("server unavailable");

        server.startAgain();
        load();

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(publish("-u", "ann", "-P", "secret", "-t", "sites/s1/x", "-i", "after"))
                        .isEmpty());
        assertThat(broker.output()).noneMatch(line -> line.contains("onErrorDropped"));
    }

    private static String publish(String... options) {
        return MosquittoPub.publish(broker, options);
    }
}
