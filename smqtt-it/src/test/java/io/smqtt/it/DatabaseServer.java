// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A database of Debian's PostgreSQL or MariaDB in a temporary folder, on a free loopback port, without syncing its files. What is
 * committed survives {@link #kill}.
 */
final class DatabaseServer implements AutoCloseable {

    static final String PASSWORD = "p'w \"of\" the database";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Path folder;
    private final int port = LoopbackPorts.one();
    private final boolean postgresql;
    private final List<String> asUser = new ArrayList<>();
    private CapturedProcess server;

    private DatabaseServer(boolean postgresql, Path folder) throws IOException {
        this.postgresql = postgresql;
        this.folder = folder;
        if (postgresql && "root".equals(System.getProperty("user.name"))) { // which PostgreSQL refuses
            run(ForeignProgram.path("chown"), "postgres", folder.toString());
            asUser.addAll(List.of(ForeignProgram.path("runuser"), "-u", "postgres", "--"));
        }
    }

    /** Starts PostgreSQL with a user {@code mqtt} that has a database of the same name. */
    static DatabaseServer postgresql() throws IOException {
        return postgresql(Files.createTempDirectory("smqtt-db"));
    }

    /** The same in a folder, which is emptied at the end. */
    static DatabaseServer postgresql(Path folder) throws IOException {
        DatabaseServer database = new DatabaseServer(true, folder);
        Path password = Files.writeString(database.folder.resolve("password"), PASSWORD);
        database.run(ForeignProgram.path("chmod"), "a+r", password.toString());
        database.runAsUser(
                database.program("initdb"),
                "-D",
                database.data(),
                "-U",
                "mqtt",
                "--pwfile=" + password,
                "-A",
                "scram-sha-256",
                "-E",
                "UTF8",
                "--no-locale",
                "--no-sync");
        database.start();
        database.sql("postgres", "CREATE DATABASE mqtt");
        return database;
    }

    /** Starts MariaDB with a user {@code mqtt} and a database of the same name. */
    static DatabaseServer mariadb() throws IOException {
        return mariadb(Files.createTempDirectory("smqtt-db"));
    }

    /** The same in a folder, which is emptied at the end. */
    static DatabaseServer mariadb(Path folder) throws IOException {
        DatabaseServer database = new DatabaseServer(false, folder);
        database.run(
                ForeignProgram.path("mariadb-install-db"),
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--user=" + System.getProperty("user.name"),
                "--datadir=" + database.data());
        database.start();
        database.sql(
                "mysql",
                "CREATE DATABASE mqtt CHARACTER SET utf8mb4; CREATE USER mqtt IDENTIFIED BY '"
                        + PASSWORD.replace("'", "''") + "'; GRANT ALL ON mqtt.* TO mqtt");
        return database;
    }

    /** Starts the server again after {@link #kill}. */
    void start() {
        List<String> command = new ArrayList<>(asUser);
        if (postgresql) {
            command.addAll(List.of(
                    program("postgres"),
                    "-D",
                    data(),
                    "-p",
                    String.valueOf(port),
                    "-c",
                    "listen_addresses=127.0.0.1",
                    "-c",
                    "unix_socket_directories=",
                    "-c",
                    "max_wal_size=64MB", // of small disks
                    "-c",
                    "fsync=off"));
        } else {
            command.addAll(List.of(
                    ForeignProgram.path("mariadbd"),
                    "--no-defaults",
                    "--user=" + System.getProperty("user.name"),
                    "--datadir=" + data(),
                    "--bind-address=127.0.0.1",
                    "--port=" + port,
                    "--socket=" + folder.resolve("s"),
                    "--pid-file=" + folder.resolve("pid"),
                    "--innodb-flush-log-at-trx-commit=2"));
        }
        server = CapturedProcess.start(
                postgresql ? "postgres" : "mariadbd", new ProcessBuilder(command).directory(folder.toFile()));
        await().atMost(PATIENCE).until(this::answers);
    }

    private boolean answers() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return execute(postgresql ? "postgres" : "mysql", "SELECT 1") == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** Kills the server with all its processes. */
    void kill() throws IOException {
        List<ProcessHandle> all = server.process().descendants().toList();
        server.close();
        await().atMost(PATIENCE).until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
        Files.deleteIfExists(Path.of(data(), "postmaster.pid")); // whose number another process may have by then
    }

    /** Starts the server again if it has ended by itself, and waits until it answers. */
    void startIfEnded() throws IOException {
        if (server.process().isAlive()) {
            await().atMost(PATIENCE).until(this::answers);
        } else {
            kill();
            start();
        }
    }

    int port() {
        return port;
    }

    /** Runs statements in the database {@code mqtt}. */
    void sql(String statements) throws IOException {
        sql("mqtt", statements);
    }

    private void sql(String database, String statements) throws IOException {
        if (execute(database, statements) != 0) {
            throw new IllegalStateException("failed: " + statements + server.report());
        }
    }

    private int execute(String database, String statements) throws IOException {
        Path file = Files.writeString(Files.createTempFile("smqtt", ".sql"), statements);
        ProcessBuilder command = postgresql
                ? new ProcessBuilder(
                        ForeignProgram.path("psql"),
                        "-q",
                        "-v",
                        "ON_ERROR_STOP=1",
                        "-h",
                        "127.0.0.1",
                        "-p",
                        String.valueOf(port),
                        "-U",
                        "mqtt",
                        "-d",
                        database,
                        "-f",
                        file.toString())
                : new ProcessBuilder(
                        ForeignProgram.path("mariadb"),
                        "--no-defaults",
                        "-h",
                        "127.0.0.1",
                        "-P",
                        String.valueOf(port),
                        "-u",
                        "root",
                        database,
                        "-e",
                        "source " + file);
        command.environment().put("PGPASSWORD", PASSWORD);
        try (CapturedProcess client = CapturedProcess.start(postgresql ? "psql" : "mariadb", command)) {
            return client.awaitExit(PATIENCE);
        } finally {
            Files.delete(file);
        }
    }

    private String data() {
        return folder.resolve("data").toString();
    }

    /** Debian keeps the programs of PostgreSQL in a folder for each version. */
    private String program(String name) {
        try (Stream<Path> versions = Files.list(Path.of("/usr/lib/postgresql"))) {
            return versions.map(version -> version.resolve("bin").resolve(name))
                    .filter(Files::isExecutable)
                    .max(Comparator.naturalOrder())
                    .map(Path::toString)
                    .orElseGet(() -> ForeignProgram.path(name));
        } catch (IOException e) {
            return ForeignProgram.path(name);
        }
    }

    private void runAsUser(String... command) {
        List<String> words = new ArrayList<>(asUser);
        words.addAll(List.of(command));
        run(words.toArray(String[]::new));
    }

    private void run(String... command) {
        try (CapturedProcess process =
                CapturedProcess.start(command[0], new ProcessBuilder(command).directory(folder.toFile()))) {
            if (process.awaitExit(PATIENCE) != 0) {
                throw new IllegalStateException(String.join(" ", command) + " failed" + process.report());
            }
        }
    }

    @Override
    public void close() throws IOException {
        if (server != null) {
            kill();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!file.equals(folder)) {
                    Files.deleteIfExists(file);
                }
            }
        }
        if (Files.getFileStore(folder).equals(Files.getFileStore(folder.resolve("..")))) {
            Files.delete(folder); // no disk is mounted there
        }
    }
}
