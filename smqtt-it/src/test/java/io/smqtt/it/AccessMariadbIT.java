// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mariadb.jdbc.Driver;

/** Migrated settings for MySQL, with MariaDB, and its driver beside the extension. */
class AccessMariadbIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String MODULE = "smqtt-access-sql";

    /** Tables as EMQX and mosquitto-go-auth document them; the first hash is that of {@code salt} and {@code secret}. */
    private static final String TABLES = """
            CREATE TABLE mqtt_user (id int(11) unsigned NOT NULL AUTO_INCREMENT, username varchar(100) DEFAULT NULL,
              password_hash varchar(100) DEFAULT NULL, salt varchar(35) DEFAULT NULL, is_superuser tinyint(1) DEFAULT 0,
              created datetime DEFAULT NULL, PRIMARY KEY (id), UNIQUE KEY mqtt_username (username))
              ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
            CREATE TABLE mqtt_acl (id int(11) unsigned NOT NULL AUTO_INCREMENT, ipaddress VARCHAR(60) NOT NULL DEFAULT '',
              username VARCHAR(255) NOT NULL DEFAULT '', clientid VARCHAR(255) NOT NULL DEFAULT '',
              action ENUM('publish', 'subscribe', 'all') NOT NULL, permission ENUM('allow', 'deny') NOT NULL,
              topic VARCHAR(255) NOT NULL DEFAULT '', qos tinyint(1), retain tinyint(1), PRIMARY KEY (id))
              ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
            INSERT INTO mqtt_user (username, password_hash, salt, is_superuser) VALUES
              ('eve', 'bede90386d450cea8b77b822f8887065e4e5abf132c2f9dccfcc7fbd4cba5e35', 'salt', 0),
              ('chief', 'bede90386d450cea8b77b822f8887065e4e5abf132c2f9dccfcc7fbd4cba5e35', 'salt', 1);
            INSERT INTO mqtt_acl (username, permission, action, topic) VALUES
              ('eve', 'deny', 'publish', 'sites/eve/locked'), ('eve', 'allow', 'all', 'sites/${username}/#');
            CREATE TABLE test_user (id mediumint NOT NULL AUTO_INCREMENT PRIMARY KEY, username varchar(100) NOT NULL,
              password_hash varchar(200) NOT NULL, is_admin boolean NOT NULL);
            CREATE TABLE test_acl (id mediumint NOT NULL AUTO_INCREMENT PRIMARY KEY, test_user_id mediumint NOT NULL,
              topic varchar(200) NOT NULL, rw int NOT NULL);
            INSERT INTO test_user (username, password_hash, is_admin) VALUES
              ('bob', 'PBKDF2$sha256$1000$AAECAwQFBgcICQoLDA0ODw==$Tvsru20utY6o3q7VRBeuL9h/1QqKhWhwk2PaYNRWBgY=', 0),
              ('carol', 'PBKDF2$sha256$1000$AAECAwQFBgcICQoLDA0ODw==$Tvsru20utY6o3q7VRBeuL9h/1QqKhWhwk2PaYNRWBgY=', 1);
            INSERT INTO test_acl (test_user_id, topic, rw) VALUES (1, 'up/%u/#', 2), (1, 'down/%c', 1);
            """;

    @TempDir
    static Path directory;

    private static DatabaseServer database;
    private static Path extensions;

    @BeforeAll
    static void start() throws IOException, URISyntaxException {
        database = DatabaseServer.mariadb();
        database.sql(TABLES);
        extensions = Files.createDirectories(directory.resolve("ext/sql")).getParent();
        Path delivered = Path.of(System.getProperty("smqtt.home", "..")).resolve(MODULE + "/target/ext/sql");
        try (Stream<Path> jars = Files.list(delivered)) {
            for (Path jar : jars.toList()) {
                Files.copy(jar, extensions.resolve("sql").resolve(jar.getFileName()));
            }
        }
        Path driver = Path.of(
                Driver.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Files.copy(driver, extensions.resolve("sql").resolve(driver.getFileName()));
    }

    @AfterAll
    static void stop() throws IOException {
        database.close();
    }

    @Test
    void whatTheMigrationMakesOfEmqxLetsInAndRefusesTheSame() throws IOException {
        Path home = Files.createDirectory(directory.resolve("emqx"));
        String options = "server = \"127.0.0.1:%d\", database = mqtt, username = mqtt, password = \"\"\"%s\"\"\""
                .formatted(database.port(), DatabaseServer.PASSWORD);
        Files.writeString(home.resolve("emqx.conf"), """
                listeners.tcp.default { bind = "127.0.0.1:0" }
                listeners.ws.default.enable = false
                authentication = [{
                  mechanism = password_based, backend = mysql, OPTIONS
                  password_hash_algorithm { name = sha256, salt_position = prefix }
                  query = "SELECT password_hash, salt, is_superuser FROM mqtt_user where username = ${username} LIMIT 1"
                }]
                authorization {
                  no_match = deny
                  sources = [{
                    type = mysql, OPTIONS
                    query = "SELECT action, permission, topic, ipaddress, qos, retain FROM mqtt_acl where username = ${username}"
                  }]
                }
                """.replace("OPTIONS", options));
        try (CapturedProcess migrate = BrokerProcess.run(home, "config", "migrate", "emqx.conf", "-o", "new.yaml")) {
            assertThat(migrate.awaitExit(PATIENCE)).as(migrate.report()).isZero();
        }

        try (BrokerProcess migrated = migrated(home, "--config", "new.yaml")) {
            MigratedAccess.assertDecides(migrated, "eve", "chief", "sites/eve/x", "sites/eve/locked", "other");
        }
    }

    @Test
    void whatTheMigrationMakesOfThePluginOfMosquittoLetsInAndRefusesTheSame() throws IOException {
        Path home = Files.createDirectory(directory.resolve("go-auth"));
        Files.writeString(
                home.resolve("mosquitto.conf"),
                String.join(
                        "\n",
                        List.of(
                                "listener 1883 127.0.0.1",
                                "allow_anonymous false",
                                "auth_plugin /mosquitto/go-auth.so",
                                "auth_opt_backends mysql",
                                "auth_opt_mysql_host 127.0.0.1",
                                "auth_opt_mysql_port " + database.port(),
                                "auth_opt_mysql_dbname mqtt",
                                "auth_opt_mysql_user mqtt",
                                "auth_opt_mysql_password " + DatabaseServer.PASSWORD,
                                "auth_opt_mysql_userquery SELECT password_hash FROM test_user WHERE username = ? limit 1",
                                "auth_opt_mysql_superquery SELECT COUNT(*) FROM test_user WHERE username = ? AND is_admin = true",
                                "auth_opt_mysql_aclquery SELECT topic FROM test_acl, test_user WHERE test_user.username = ?"
                                        + " AND test_acl.test_user_id = test_user.id AND rw = ?",
                                "")));

        try (BrokerProcess migrated = migrated(home, "--migrate", "mosquitto.conf", "--set", "listeners.tcp.port=0")) {
            MigratedAccess.assertDecides(migrated, "bob", "carol", "up/bob/x", "down/x", "up/carol/x");
        }
    }

    private static BrokerProcess migrated(Path home, String... options) {
        ProcessBuilder command = Extensions.migrated(MODULE, home, options);
        command.environment().put("JAVA_TOOL_OPTIONS", "-Dsmqtt.ext=" + extensions);
        return BrokerProcess.start(command);
    }
}
