// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
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
 * The examples of {@code docs/access-sql.md}: their tables, configurations and commands, with PostgreSQL and the extension as it is delivered;
 * rules that change; then what the migration makes of the settings of others.
 */
class AccessSqlIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String MODULE = "smqtt-access-sql";

    /** Tables as EMQX documents them; the hash is that of {@code salt} and {@code secret}. */
    private static final String EMQX = """
            CREATE SCHEMA emqx;
            CREATE TABLE emqx.mqtt_user (id serial PRIMARY KEY, username text NOT NULL UNIQUE, password_hash text NOT NULL,
              salt text NOT NULL, is_superuser boolean DEFAULT false, created timestamp with time zone DEFAULT NOW());
            CREATE TYPE emqx.action AS ENUM('publish', 'subscribe', 'all');
            CREATE TYPE emqx.permission AS ENUM('allow', 'deny');
            CREATE TABLE emqx.mqtt_acl (id serial PRIMARY KEY, ipaddress text NOT NULL DEFAULT '', username text NOT NULL DEFAULT '',
              clientid text NOT NULL DEFAULT '', action emqx.action, permission emqx.permission, topic text NOT NULL,
              qos smallint, retain smallint);
            INSERT INTO emqx.mqtt_user (username, password_hash, salt, is_superuser) VALUES
              ('eve', 'bede90386d450cea8b77b822f8887065e4e5abf132c2f9dccfcc7fbd4cba5e35', 'salt', false),
              ('chief', 'bede90386d450cea8b77b822f8887065e4e5abf132c2f9dccfcc7fbd4cba5e35', 'salt', true);
            INSERT INTO emqx.mqtt_acl (username, permission, action, topic, ipaddress) VALUES
              ('eve', 'deny', 'publish', 'sites/eve/locked', ''), ('eve', 'allow', 'all', 'sites/${username}/#', '127.0.0.0/8');
            """;

    /** Tables as mosquitto-go-auth documents them. */
    private static final String GO_AUTH = """
            CREATE SCHEMA plugin;
            CREATE TABLE plugin.test_user (id bigserial PRIMARY KEY, username varchar(100) NOT NULL, password_hash varchar(200) NOT NULL,
              is_admin boolean NOT NULL);
            CREATE TABLE plugin.test_acl (id bigserial PRIMARY KEY, test_user_id bigint NOT NULL REFERENCES plugin.test_user,
              topic varchar(200) NOT NULL, rw int NOT NULL);
            INSERT INTO plugin.test_user (username, password_hash, is_admin) VALUES
              ('bob', 'PBKDF2$sha256$1000$AAECAwQFBgcICQoLDA0ODw==$Tvsru20utY6o3q7VRBeuL9h/1QqKhWhwk2PaYNRWBgY=', false),
              ('carol', 'PBKDF2$sha256$1000$AAECAwQFBgcICQoLDA0ODw==$Tvsru20utY6o3q7VRBeuL9h/1QqKhWhwk2PaYNRWBgY=', true);
            INSERT INTO plugin.test_acl (test_user_id, topic, rw) VALUES (1, 'up/%u/#', 2), (1, 'down/%c', 1);
            """;

    @TempDir
    static Path directory;

    private static DocumentPage page = new DocumentPage("");
    private static DatabaseServer database;
    private static BrokerProcess broker;

    @BeforeAll
    static void start() throws IOException {
        page = DocumentPage.read("access-sql.md");
        database = DatabaseServer.postgresql();
        database.sql(page.block("sql", 0));
        database.sql(page.block("sql", 1));
        Files.writeString(directory.resolve("db.password"), DatabaseServer.PASSWORD + "\n");
        Path file = Files.writeString(
                directory.resolve("smqtt.yaml"),
                both().replace("127.0.0.1:5432", "127.0.0.1:" + database.port()) + """
                              cache-ttl: 1s
                        management:
                          enabled: false
                        storage:
                          kind: memory
                        listeners:
                          tcp:
                            host: 127.0.0.1
                            port: 0
                          ws:
                            enabled: false
                        """);
        broker = BrokerProcess.start(Extensions.command(MODULE, directory, file));
    }

    /** The backends of both examples in one chain, the second one last. */
    private static String both() {
        String plugin = page.block("yaml", 1);
        return page.block("yaml", 0).replace("chain: [people]", "chain: [people, plugin]")
                + "      cache-ttl: 1s\n"
                + plugin.substring(plugin.indexOf("    plugin:"));
    }

    @AfterAll
    static void stop() throws IOException {
        if (broker != null) {
            broker.close();
        }
        if (database != null) {
            database.close();
        }
    }

    @Test
    void commandsOfThePageGetTheirAnswers() {
        page.assertPublishAnswers(10, options -> publish(options.split(" ")));
    }

    /** By {@code cache-ttl} alone, without a reload. */
    @Test
    void changedRulesAreInForceForAClientThatStaysConnected() throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port("tcp"));
        try (RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5)) {
            assertThat(client.connect(ConnectBytes.of("stays").userName("ann").password("secret"))
                            .reason())
                    .isEqualTo(ReasonCode.SUCCESS);
            assertThat(published(client)).isEqualTo(ReasonCode.NOT_AUTHORIZED);

            database.sql(
                    "INSERT INTO mqtt_acl (username, permission, action, topic) VALUES ('ann', 'allow', 'publish', 'new');");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(published(client)).isEqualTo(ReasonCode.NO_MATCHING_SUBSCRIBERS));

            database.sql("DELETE FROM mqtt_acl WHERE topic = 'new';");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(published(client)).isEqualTo(ReasonCode.NOT_AUTHORIZED));
        }
    }

    private static ReasonCode published(RawClient client) {
        client.send(PublishBytes.to("new").payload("x").qos(1, client.nextPacketId()));
        return client.expect(MqttMessageType.PUBACK).reason();
    }

    @Test
    void clientsAreRefusedWhileTheDatabaseIsAwayAndAcceptedWhenItIsBack() throws IOException {
        database.kill();
        try {
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(publish("-u", "ann", "-P", "secret", "-t", "sites/ann/x", "-m", "1"))
                                    .containsIgnoringCase("server"));
        } finally {
            database.start();
        }
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(publish("-u", "ann", "-P", "secret", "-t", "sites/ann/x", "-m", "1"))
                        .isEmpty());
    }

    @Test
    void theListOfExtensionsHasIt() {
        try (CapturedProcess list =
                CapturedProcess.start("smqtt ext list", Extensions.run(MODULE, directory, "ext", "list"))) {
            assertThat(list.awaitExit(PATIENCE)).as(list.report()).isZero();
            assertThat(list.output())
                    .anyMatch(line -> line.matches(
                            "sql +\\S+ +access backend sql +HikariCP-\\S+, postgresql-\\S+, smqtt-access-sql-\\S+"));
        }
    }

    @Test
    void whatTheMigrationMakesOfEmqxLetsInAndRefusesTheSame() throws IOException {
        database.sql(EMQX);
        Path home = Files.createDirectory(directory.resolve("emqx"));
        Files.writeString(home.resolve("emqx.conf"), """
                listeners.tcp.default { bind = "127.0.0.1:0" }
                listeners.ws.default.enable = false
                authentication = [{
                  mechanism = password_based, backend = postgresql, OPTIONS
                  password_hash_algorithm { name = sha256, salt_position = prefix }
                  query = "SELECT password_hash, salt, is_superuser FROM emqx.mqtt_user where username = ${username} LIMIT 1"
                }]
                authorization {
                  no_match = deny
                  sources = [{
                    type = postgresql, OPTIONS
                    query = "SELECT permission, action, topic, ipaddress, qos, retain FROM emqx.mqtt_acl WHERE username = ${username}"
                  }]
                }
                """.replace(
                        "OPTIONS",
                        "server = \"127.0.0.1:%d\", database = mqtt, username = mqtt, password = \"\"\"%s\"\"\""
                                .formatted(database.port(), DatabaseServer.PASSWORD)));
        try (CapturedProcess migrate = BrokerProcess.run(home, "config", "migrate", "emqx.conf", "-o", "new.yaml")) {
            assertThat(migrate.awaitExit(PATIENCE)).as(migrate.report()).isZero();
            assertThat(migrate.output()).noneMatch(line -> line.contains(DatabaseServer.PASSWORD));
        }

        try (BrokerProcess migrated = migrated(home, "--config", "new.yaml")) {
            MigratedAccess.assertDecides(migrated, "eve", "chief", "sites/eve/x", "sites/eve/locked", "other");
        }
    }

    @Test
    void whatTheMigrationMakesOfThePluginOfMosquittoLetsInAndRefusesTheSame() throws IOException {
        database.sql(GO_AUTH);
        Path home = Files.createDirectory(directory.resolve("go-auth"));
        Files.writeString(home.resolve("mosquitto.conf"), """
                listener 1883 127.0.0.1
                allow_anonymous false
                auth_plugin /mosquitto/go-auth.so
                auth_opt_backends postgres
                auth_opt_pg_host 127.0.0.1
                auth_opt_pg_port %d
                auth_opt_pg_dbname mqtt
                auth_opt_pg_user mqtt
                auth_opt_pg_password %s
                auth_opt_pg_sslmode disable
                auth_opt_pg_userquery select password_hash from plugin.test_user where username = $1 limit 1
                auth_opt_pg_superquery select count(*) from plugin.test_user where username = $1 and is_admin = true
                auth_opt_pg_aclquery SELECT test_acl.topic FROM plugin.test_acl, plugin.test_user WHERE test_user.username = $1 \
                AND test_acl.test_user_id = test_user.id AND rw = $2
                connection elsewhere
                address 127.0.0.1:1
                topic # out
                remote_username plant
                remote_password another secret
                """.formatted(database.port(), DatabaseServer.PASSWORD));

        try (BrokerProcess migrated = migrated(home, "--migrate", "mosquitto.conf", "--set", "listeners.tcp.port=0")) {
            MigratedAccess.assertDecides(migrated, "bob", "carol", "up/bob/x", "down/x", "up/carol/x");
        }
    }

    private static BrokerProcess migrated(Path home, String... options) {
        return BrokerProcess.start(Extensions.migrated(MODULE, home, options));
    }

    private static String publish(String... options) {
        List<String> all = new ArrayList<>(List.of("-V", "5", "-q", "1"));
        all.addAll(List.of(options));
        return MosquittoPub.run(broker, all.toArray(String[]::new));
    }
}
