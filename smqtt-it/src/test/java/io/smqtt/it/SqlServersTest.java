// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.guard.ClientRefusedException;
import io.smqtt.access.sql.SqlBackendFactory;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Ticker;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** PostgreSQL and MariaDB with the tables and statements that EMQX and mosquitto-go-auth document. */
class SqlServersTest {

    private static final String SHA256 =
            "bede90386d450cea8b77b822f8887065e4e5abf132c2f9dccfcc7fbd4cba5e35"; // salt, secret
    private static final String PBKDF2 =
            "PBKDF2$sha256$1000$AAECAwQFBgcICQoLDA0ODw==$Tvsru20utY6o3q7VRBeuL9h/1QqKhWhwk2PaYNRWBgY=";
    private static final List<String> HOSTILE = List.of(
            "' OR '1'='1",
            "ann' --",
            "ann'; DROP TABLE mqtt_user; --",
            "\\' OR 1=1 -- ",
            "ann\\",
            "\" OR \"\"=\"",
            "${username}",
            "$1",
            "?",
            "ann\u0000",
            "%",
            "ann\ud83d\ude00",
            "a".repeat(60_000));

    private static final Map<String, String> EMQX_TABLES = Map.of("postgresql", """
            CREATE TABLE mqtt_user (id serial PRIMARY KEY, username text NOT NULL UNIQUE, password_hash text NOT NULL,
              salt text NOT NULL, is_superuser boolean DEFAULT false, created timestamp with time zone DEFAULT NOW());
            CREATE TYPE ACTION AS ENUM('publish','subscribe','all');
            CREATE TYPE PERMISSION AS ENUM('allow','deny');
            CREATE TABLE mqtt_acl (id serial PRIMARY KEY, ipaddress text NOT NULL DEFAULT '', username text NOT NULL DEFAULT '',
              clientid text NOT NULL DEFAULT '', action ACTION, permission PERMISSION, topic text NOT NULL, qos smallint, retain smallint);
            """, "mariadb", """
            CREATE TABLE mqtt_user (id int(11) unsigned NOT NULL AUTO_INCREMENT, username varchar(100) DEFAULT NULL,
              password_hash varchar(100) DEFAULT NULL, salt varchar(35) DEFAULT NULL, is_superuser tinyint(1) DEFAULT 0,
              created datetime DEFAULT NULL, PRIMARY KEY (id), UNIQUE KEY mqtt_username (username))
              ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
            CREATE TABLE mqtt_acl (id int(11) unsigned NOT NULL AUTO_INCREMENT, ipaddress VARCHAR(60) NOT NULL DEFAULT '',
              username VARCHAR(255) NOT NULL DEFAULT '', clientid VARCHAR(255) NOT NULL DEFAULT '',
              action ENUM('publish', 'subscribe', 'all') NOT NULL, permission ENUM('allow', 'deny') NOT NULL,
              topic VARCHAR(255) NOT NULL DEFAULT '', qos tinyint(1), retain tinyint(1), PRIMARY KEY (id))
              ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
            """);

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void bothTablesAreReadAndValuesOfClientsAreNeverText(String kind) throws IOException {
        try (DatabaseServer database =
                kind.equals("mariadb") ? DatabaseServer.mariadb() : DatabaseServer.postgresql()) {
            emqx(kind, database);
            goAuth(kind, database);
            values(kind, database);
            changedPassword(kind, database);
            killed(kind, database);
        }
    }

    private static void emqx(String kind, DatabaseServer database) throws IOException {
        database.sql(EMQX_TABLES.get(kind) + """
                INSERT INTO mqtt_user (username, password_hash, salt, is_superuser)
                  VALUES ('ann', '%1$s', 'salt', %2$s), ('root', '%1$s', 'salt', %3$s);
                INSERT INTO mqtt_acl (username, permission, action, topic, qos, ipaddress) VALUES
                  ('ann', 'deny', 'publish', 'locked', NULL, ''), ('ann', 'allow', 'all', 'a/${clientid}/#', 1, '127.0.0.0/8');
                """.formatted(SHA256, no(kind), yes(kind)));
        AccessBackend backend = open(
                kind,
                database,
                "query",
                "SELECT password_hash, salt, is_superuser FROM mqtt_user WHERE username = ${username} LIMIT 1",
                "acl-query",
                "SELECT permission, action, topic, qos, retain, ipaddress FROM mqtt_acl WHERE username = ${username} ORDER BY id");

        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "root", "secret")).isEqualTo(new BackendAnswer.Allow(true, Map.of(), null, null));
        assertThat(ask(backend, "ann", "wrong")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "bob", "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, null, "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        HOSTILE.forEach(
                name -> assertThat(ask(backend, name, "secret")).as(name).isEqualTo(BackendAnswer.NOT_MINE));
        assertThat(ask(backend, "ann", "secret")).as("nothing was dropped").isEqualTo(new BackendAnswer.Allow());
        assertThat(backend.rules(client("ann", null)).block())
                .extracting(rule -> rule.rule().allow() + " " + rule.rule().topic() + " "
                        + rule.addresses().size())
                .containsExactly("false locked 0", "true a/${clientid}/# 1");
        assertThat(backend.rules(client("bob", null)).block()).isEmpty();
        backend.close();
    }

    private static void goAuth(String kind, DatabaseServer database) throws IOException {
        database.sql("""
                CREATE TABLE users (id int PRIMARY KEY, username varchar(100) NOT NULL, password_hash varchar(200) NOT NULL, is_admin int NOT NULL);
                CREATE TABLE acls (user_id int NOT NULL, topic varchar(200) NOT NULL, rw int NOT NULL);
                INSERT INTO users VALUES (1, 'ann', '%s', 0), (2, 'root', '%s', 1);
                INSERT INTO acls VALUES (1, 'w/%%u', 2), (1, 'rw/%%c', 3), (1, 's/#', 4), (1, 's/#', 1), (1, 'r', 1);
                """.formatted(PBKDF2, PBKDF2));
        boolean numbered = kind.equals("postgresql");
        AccessBackend backend = open(
                kind,
                database,
                "style",
                "go-auth",
                "userquery",
                "SELECT password_hash FROM users WHERE username = " + (numbered ? "$1" : "?") + " limit 1",
                "superquery",
                "SELECT COUNT(*) FROM users WHERE username = " + (numbered ? "$1" : "?") + " AND is_admin = 1",
                "aclquery",
                "SELECT acls.topic FROM acls, users WHERE users.username = " + (numbered ? "$1" : "?")
                        + " AND acls.user_id = users.id AND (rw = " + (numbered ? "$2" : "?") + " OR rw = 3)");

        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "root", "secret")).isEqualTo(new BackendAnswer.Allow(true, Map.of(), null, null));
        assertThat(ask(backend, "ann", "wrong")).isEqualTo(BackendAnswer.NOT_MINE);
        HOSTILE.forEach(
                name -> assertThat(ask(backend, name, "secret")).as(name).isEqualTo(BackendAnswer.NOT_MINE));
        assertThat(backend.rules(client("ann", null)).block())
                .extracting(rule -> rule.rule().actions() + " " + rule.rule().topic())
                .containsExactlyInAnyOrder(
                        "PUBLISH w/${username}",
                        "PUBLISH rw/${clientid}",
                        "SUBSCRIBE rw/${clientid}",
                        "SUBSCRIBE s/#",
                        "DELIVERY r");
        backend.close();
    }

    /** A client whose value fits no column is not known; that is no failure, which would take the database out of use for all. */
    private static void values(String kind, DatabaseServer database) {
        AccessBackend backend = open(
                kind,
                database,
                "query",
                "SELECT password_hash, salt FROM mqtt_user WHERE id = ${username}",
                "hash.name",
                "plain");

        assertThat(ask(backend, "no number", "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, "99999999999999999999", "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        backend.close();
        if (kind.equals("postgresql")) { // MariaDB compares such values as numbers, and finds no row
            AccessBackend rules =
                    open(kind, database, "acl-query", "SELECT permission, topic FROM mqtt_acl WHERE id = ${username}");
            assertThatThrownBy(() -> rules.rules(client("no number", null)).block())
                    .isInstanceOf(ClientRefusedException.class);
            rules.close();
        }
        AccessBackend wrong = open(kind, database, "query", "SELECT nothing FROM nowhere WHERE x = ${username}");
        assertThatThrownBy(() -> ask(wrong, "ann", "secret")).hasMessageContaining("nowhere");
        wrong.close();
    }

    /** The file is read again, without a restart. */
    private static void changedPassword(String kind, DatabaseServer database) throws IOException {
        Path file = Files.writeString(Files.createTempFile("smqtt", "password"), "the former one");
        AccessBackend backend = open(
                kind,
                database,
                "password-file",
                file.toString(),
                "query",
                "SELECT password_hash, salt FROM mqtt_user WHERE username = ${username}");
        assertThatThrownBy(() -> ask(backend, "ann", "secret")).hasMessageContaining("SqlFailedException");

        Files.writeString(file, DatabaseServer.PASSWORD + "\n");
        assertThat(backend.reload().reloaded()).containsExactly(file.toString());
        await().atMost(Duration.ofSeconds(30))
                .ignoreExceptions()
                .until(() -> ask(backend, "ann", "secret").equals(new BackendAnswer.Allow()));
        backend.close();
        Files.delete(file);
    }

    private static void killed(String kind, DatabaseServer database) throws IOException {
        AccessBackend backend =
                open(kind, database, "query", "SELECT password_hash, salt FROM mqtt_user WHERE username = ${username}");
        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());

        database.kill();
        assertThatThrownBy(() -> ask(backend, "ann", "secret")).hasMessageContaining("SqlFailedException");
        database.start();

        await().atMost(Duration.ofSeconds(30))
                .ignoreExceptions()
                .until(() -> ask(backend, "ann", "secret").equals(new BackendAnswer.Allow()));
        backend.close();
    }

    private static String yes(String kind) {
        return kind.equals("mariadb") ? "1" : "true";
    }

    private static String no(String kind) {
        return kind.equals("mariadb") ? "0" : "false";
    }

    private static BackendAnswer ask(AccessBackend backend, String name, String password) {
        return backend.authenticate(client(name, password)).block(Duration.ofSeconds(20));
    }

    private static BackendRequest client(String name, String password) {
        return new BackendRequest(
                "c1",
                name,
                password == null ? null : password.getBytes(UTF_8),
                new InetSocketAddress("127.0.0.1", 4711),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                Map.of());
    }

    private static AccessBackend open(String kind, DatabaseServer database, String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        values.put("url", value("jdbc:" + kind + "://127.0.0.1:" + database.port() + "/mqtt"));
        values.put("username", value("mqtt"));
        values.put("password", value(DatabaseServer.PASSWORD));
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(keysAndValues[i], value(keysAndValues[i + 1]));
        }
        if (values.containsKey("password-file")) {
            values.remove("password");
        }
        SqlBackendFactory factory = new SqlBackendFactory();
        AccessBackendConfig common = AccessBackendConfig.builder("sql")
                .timeout(Duration.ofSeconds(2))
                .build();
        return factory.open(
                BackendSettings.of("db", factory.settings(), values), new BackendContext("db", common, Ticker.SYSTEM));
    }

    private static ConfigValue value(String text) {
        return new ConfigValue(text, "smqtt.yaml:1", Path.of(""));
    }
}
