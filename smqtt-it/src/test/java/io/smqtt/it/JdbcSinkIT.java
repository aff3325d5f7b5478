// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sink {@code jdbc} of the real program: a table of a database that is killed. */
class JdbcSinkIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final String MODULE = "smqtt-sink-jdbc";

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhilePostgresqlIsKilled() throws Exception {
        try (DatabaseServer database = DatabaseServer.postgresql()) {
            run("postgresql", "postgresql", directory, database, killed(database));
        }
    }

    @Test
    @Tag("long")
    void nothingIsLostWhileMariadbIsKilled() throws Exception {
        try (DatabaseServer database = DatabaseServer.mariadb()) {
            run("mariadb", "mariadb", directory, database, killed(database));
        }
    }

    private static SinkCampaign.Server killed(DatabaseServer database) {
        return new SinkCampaign.Server() {
            @Override
            public void kill() throws IOException {
                database.kill();
            }

            @Override
            public void start() {
                database.start();
            }
        };
    }

    /** Writes into a table of a database that is killed, or to which something else happens. */
    static void run(String name, String kind, Path directory, DatabaseServer database, SinkCampaign.Server server)
            throws Exception {
        boolean isPostgresql = kind.equals("postgresql");
        database.sql("CREATE TABLE readings (id " + (isPostgresql ? "bigserial" : "bigint AUTO_INCREMENT")
                + " PRIMARY KEY, topic varchar(100) NOT NULL, n int NOT NULL)");
        Path extensions = isPostgresql
                ? Path.of(System.getProperty("smqtt.home", ".."), MODULE, "target/ext")
                : withDriver(directory);
        String url = "jdbc:" + kind + "://127.0.0.1:" + database.port() + "/mqtt";
        Path configuration = configuration(directory, url);
        try (SinkCampaign campaign = new SinkCampaign(() -> start(directory, configuration, extensions), server)) {
            campaign.run();
            campaign.publishPoison("no number");
            await().atMost(PATIENCE)
                    .pollInterval(POLL)
                    .until(() -> SinkCampaign.distinct(numbers(url)) == campaign.published());
            campaign.assertArrived(name, numbers(url));
            SinkCampaign.awaitDeadLetter(directory, "\"reason\":\"SQL state 22");
        }
    }

    private static BrokerProcess start(Path directory, Path configuration, Path extensions) {
        ProcessBuilder command = Extensions.command(MODULE, directory, configuration);
        command.environment()
                .put(
                        "JAVA_TOOL_OPTIONS",
                        "-Dsmqtt.ext=" + extensions.toAbsolutePath().normalize());
        return BrokerProcess.start(command);
    }

    /** The extension with the driver of MariaDB, which operators add. */
    private static Path withDriver(Path directory) throws IOException, URISyntaxException {
        Path own = Files.createDirectories(directory.resolve("ext/sink-jdbc"));
        Path delivered = Path.of(System.getProperty("smqtt.home", "..")).resolve(MODULE + "/target/ext/sink-jdbc");
        try (Stream<Path> jars = Files.list(delivered)) {
            for (Path jar : jars.toList()) {
                Files.copy(jar, own.resolve(jar.getFileName()));
            }
        }
        Path driver = Path.of(org.mariadb.jdbc.Driver.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Files.copy(driver, own.resolve(driver.getFileName()));
        return own.getParent();
    }

    private static Map<String, List<Integer>> numbers(String url) throws SQLException {
        Map<String, List<Integer>> numbers = new TreeMap<>();
        try (Connection connection = DriverManager.getConnection(url, "mqtt", DatabaseServer.PASSWORD);
                ResultSet result =
                        connection.createStatement().executeQuery("SELECT topic, n FROM readings ORDER BY id")) {
            while (result.next()) {
                numbers.computeIfAbsent(result.getString(1), topic -> new ArrayList<>())
                        .add(result.getInt(2));
            }
        }
        return numbers;
    }

    private static Path configuration(Path directory, String url) throws IOException {
        Path password = Files.writeString(directory.resolve("password"), DatabaseServer.PASSWORD + "\n");
        return SinkCampaign.configuration(
                directory, "SELECT topic, payload AS n FROM \"" + SinkCampaign.FILTER + '"', """
                type: jdbc
                url: %s
                username: mqtt
                password-file: %s
                statement: INSERT INTO readings (topic, n) VALUES (${topic}, ${n})
                """.formatted(
                                url, password));
    }
}
