// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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

/** The example of {@code docs/access-sql.md}: its tables, its configuration and its commands, with PostgreSQL and the extension as it is delivered. */
class AccessSqlIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Path HOME =
            Path.of(System.getProperty("smqtt.home", "..")).toAbsolutePath().normalize();
    private static final Path EXTENSIONS = HOME.resolve("smqtt-access-sql/target/ext");

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
        Files.writeString(directory.resolve("db.password"), DatabaseServer.PASSWORD + "\n");
        Path file = Files.writeString(
                directory.resolve("smqtt.yaml"),
                page.block("yaml", 0).replace("127.0.0.1:5432", "127.0.0.1:" + database.port()) + """
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
        broker = BrokerProcess.start(command(
                "start",
                "--config",
                file.toString(),
                "--data",
                directory.resolve("data").toString()));
    }

    private static ProcessBuilder command(String... arguments) {
        List<String> command = new ArrayList<>(BrokerProcess.program());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().put("JAVA_TOOL_OPTIONS", "-Dsmqtt.ext=" + EXTENSIONS);
        return builder;
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
        page.assertPublishAnswers(6, options -> publish(options.split(" ")));
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
        try (CapturedProcess list = CapturedProcess.start("smqtt ext list", command("ext", "list"))) {
            assertThat(list.awaitExit(PATIENCE)).as(list.report()).isZero();
            assertThat(list.output())
                    .anyMatch(line -> line.matches(
                            "sql +\\S+ +access backend sql +HikariCP-\\S+, postgresql-\\S+, smqtt-access-sql-\\S+"));
        }
    }

    private static String publish(String... options) {
        List<String> all = new ArrayList<>(List.of("-V", "5", "-q", "1"));
        all.addAll(List.of(options));
        return MosquittoPub.run(broker, all.toArray(String[]::new));
    }
}
