// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The example of {@code docs/access-redis.md}: its data, configuration and commands; then TLS, a sentinel, a cluster, changed rules, a server
 * that dies, and what the migration makes of the settings of others.
 */
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
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), access + backends + LoopbackBroker.MEMORY);
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

    @Test
    void changedRulesAreInForceForAClientThatStaysConnected() {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port("tcp"));
        try (RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5)) {
            ReceivedPacket answer =
                    client.connect(ConnectBytes.of("stays").userName("ann").password("secret"));
            assertThat(answer.reason()).isEqualTo(ReasonCode.SUCCESS);
            assertThat(published(client)).isEqualTo(ReasonCode.NOT_AUTHORIZED);

            server.loadAll("HSET mqtt_acl:ann new publish\n");
            broker.signal("HUP");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(published(client)).isEqualTo(ReasonCode.NO_MATCHING_SUBSCRIBERS));

            server.loadAll("HDEL mqtt_acl:ann new\n");
            broker.signal("HUP");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(published(client)).isEqualTo(ReasonCode.NOT_AUTHORIZED));
        }
    }

    private static ReasonCode published(RawClient client) {
        client.send(PublishBytes.to("new").payload("x").qos(1, client.nextPacketId()));
        return client.expect(MqttMessageType.PUBACK).reason();
    }

    @Test
    void whatTheMigrationMakesOfEmqxLetsInAndRefusesTheSame() throws IOException {
        Path home = Files.createDirectory(directory.resolve("emqx"));
        String options = "server = \"127.0.0.1:%d\", username = smqtt, password = searcher".formatted(server.port());
        Files.writeString(home.resolve("emqx.conf"), """
                listeners.tcp.default { bind = "127.0.0.1:0" }
                listeners.ws.default.enable = false
                authentication = [{
                  mechanism = password_based, backend = redis, OPTIONS
                  cmd = "HMGET mqtt_user:${username} password_hash salt is_superuser"
                  password_hash_algorithm { name = sha256, salt_position = prefix }
                }]
                authorization {
                  no_match = deny
                  sources = [{ type = redis, OPTIONS, cmd = "HGETALL mqtt_acl:${username}" }]
                }
                """.replace("OPTIONS", options));
        try (CapturedProcess migrate = BrokerProcess.run(home, "config", "migrate", "emqx.conf", "-o", "new.yaml")) {
            assertThat(migrate.awaitExit(PATIENCE)).as(migrate.report()).isZero();
        }

        try (BrokerProcess migrated = migrated(home, "--config", "new.yaml")) {
            assertThat(MosquittoPub.publish(migrated, "-u", "ann", "-P", "secret", "-t", "sites/s1/x"))
                    .isEmpty();
            assertThat(MosquittoPub.publish(migrated, "-u", "root", "-P", "toor", "-t", "other"))
                    .isEmpty();
            assertThat(MosquittoPub.publish(migrated, "-u", "ann", "-P", "secret", "-t", "sites/s2/x"))
                    .containsIgnoringCase("not authorized");
            assertThat(MosquittoPub.publish(migrated, "-u", "ann", "-P", "wrong", "-t", "sites/s1/x"))
                    .containsIgnoringCase("bad user name or password");
        }
    }

    @Test
    void whatTheMigrationMakesOfThePluginOfMosquittoLetsInAndRefusesTheSame() throws IOException {
        Path home = Files.createDirectory(directory.resolve("go-auth"));
        Files.writeString(home.resolve("mosquitto.conf"), """
                listener 1883 127.0.0.1
                allow_anonymous false
                auth_plugin /mosquitto/go-auth.so
                auth_opt_backends redis
                auth_opt_redis_host 127.0.0.1
                auth_opt_redis_port %d
                auth_opt_redis_db 1
                """.formatted(server.port()));

        try (BrokerProcess migrated = migrated(home, "--migrate", "mosquitto.conf", "--set", "listeners.tcp.port=0")) {
            assertThat(MosquittoPub.publish(migrated, "-u", "bob", "-P", "secret", "-t", "sites/s3/x"))
                    .isEmpty();
            assertThat(MosquittoPub.publish(migrated, "-u", "carol", "-P", "toor", "-t", "other"))
                    .isEmpty();
            assertThat(MosquittoPub.publish(migrated, "-u", "bob", "-P", "secret", "-t", "users/ann/x"))
                    .containsIgnoringCase("not authorized");
            assertThat(MosquittoPub.publish(migrated, "-u", "bob", "-P", "wrong", "-t", "sites/s3/x"))
                    .containsIgnoringCase("bad user name or password");
        }
    }

    private static BrokerProcess migrated(Path home, String... options) {
        return BrokerProcess.start(Extensions.migrated("smqtt-access-redis", home, options));
    }

    private static String publish(String... options) {
        return MosquittoPub.publish(broker, options);
    }
}
