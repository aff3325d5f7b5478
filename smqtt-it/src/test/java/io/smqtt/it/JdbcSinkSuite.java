// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.sink.jdbc.JdbcSinkFactory;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** The contract of the sink {@code jdbc} with a real database, its values, and rows that the database refuses. */
abstract class JdbcSinkSuite extends SinkContract {

    /** The database of all tests of a class. */
    static DatabaseServer database;

    private final String kind;
    private final String lock;

    @TempDir
    Path folder;

    private Connection locking;

    JdbcSinkSuite(String kind, String lock) {
        this.kind = kind;
        this.lock = lock;
    }

    /** Makes the table that the contract writes to. */
    static void table(String identity) throws IOException {
        database.sql("CREATE TABLE readings (id " + identity + ", n bigint NOT NULL CHECK (n >= 0))");
    }

    @AfterAll
    static void stop() throws IOException {
        database.close();
    }

    @BeforeEach
    void empty() throws SQLException {
        query("DELETE FROM readings");
    }

    @AfterEach
    void unlock() throws SQLException {
        answerAgain();
    }

    private Sink jdbc(String statement) throws IOException {
        Path password = Files.writeString(folder.resolve("password"), DatabaseServer.PASSWORD + "\n");
        return sink(
                new JdbcSinkFactory(),
                message -> Mono.empty(),
                "url",
                url(),
                "username",
                "mqtt",
                "password-file",
                password.toString(),
                "statement",
                statement);
    }

    private String url() {
        return "jdbc:" + kind + "://127.0.0.1:" + database.port() + "/mqtt";
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(url(), "mqtt", DatabaseServer.PASSWORD);
    }

    /** The rows of a query as text. */
    private List<List<String>> query(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            List<List<String>> rows = new ArrayList<>();
            if (statement.execute(sql)) {
                ResultSet result = statement.getResultSet();
                int columns = result.getMetaData().getColumnCount();
                while (result.next()) {
                    List<String> row = new ArrayList<>();
                    for (int i = 1; i <= columns; i++) {
                        row.add(result.getString(i));
                    }
                    rows.add(row);
                }
            }
            return rows;
        }
    }

    @Override
    protected Sink open() throws IOException {
        return jdbc("INSERT INTO readings (n) VALUES (${n})");
    }

    @Override
    protected List<Integer> received() throws SQLException {
        return query("SELECT n FROM readings ORDER BY id").stream()
                .map(row -> Integer.valueOf(row.get(0)))
                .toList();
    }

    @Override
    protected boolean hang() throws SQLException {
        locking = connect();
        locking.setAutoCommit(false);
        try (Statement statement = locking.createStatement()) {
            statement.execute(lock);
        }
        return true;
    }

    @Override
    protected void answerAgain() throws SQLException {
        if (locking != null) {
            locking.close();
        }
    }

    @Test
    void rowsThatAreRefusedAreFoundAndAllOthersAreWritten() throws Exception {
        List<SinkRecord> batch = IntStream.range(0, 100)
                .mapToObj(n -> row(n == 37 || n == 38 || n == 90 ? -n : n))
                .toList();
        try (Sink sink = open()) {
            BatchResult result = sink.send(batch).block(PATIENCE);

            assertThat(result.refusals()).extracting(BatchResult.Refusal::index).containsExactly(37, 38, 90);
            assertThat(result.refusals()).noneMatch(BatchResult.Refusal::recoverable);
            assertThat(result.refusals().get(0).reason()).startsWith("SQL state 23");
        }
        assertThat(received()).hasSize(97).isSorted();
    }

    /** Makes a table with the columns a to h: text, bigint, double precision, boolean, JSON, bytes, text, and a number of 30 digits. */
    abstract String typed();

    @Test
    void valuesAreBoundWithTheirTypes() throws Exception {
        database.sql("DROP TABLE IF EXISTS typed; " + typed());
        String hostile = "'); DROP TABLE typed; -- \\ \" ${n} ? é \uD83D\uDE00";
        Map<String, Object> row = new HashMap<>();
        row.put("text", hostile);
        row.put("whole", Long.MAX_VALUE);
        row.put("part", -0.125);
        row.put("yes", true);
        row.put("map", Map.of("a", List.of(1L, "x")));
        row.put("bytes", new byte[] {0, (byte) 0xff});
        row.put("none", null);
        row.put("big", new BigInteger("123456789012345678901234567890"));
        try (Sink sink = jdbc(
                "INSERT INTO typed VALUES (${text}, ${whole}, ${part}, ${yes}, ${map}, ${bytes}, ${none}, ${big})")) {
            assertThat(sink.send(List.of(
                                    new SinkRecord(row, row(1).origin()), new SinkRecord(Map.of(), row(1).origin())))
                            .block(PATIENCE))
                    .isEqualTo(BatchResult.DONE);
        }

        List<List<String>> rows =
                query("SELECT a, b, c, CASE WHEN d THEN 'yes' END, e, g, h FROM typed ORDER BY b IS NULL");
        assertThat(rows.get(0).get(4).replace(" ", "")).isEqualTo("{\"a\":[1,\"x\"]}");
        assertThat(rows.get(0).subList(0, 4)).containsExactly(hostile, "9223372036854775807", "-0.125", "yes");
        assertThat(rows.get(0).subList(5, 7)).containsExactly(null, "123456789012345678901234567890");
        assertThat(rows.get(1)).containsOnlyNulls();
        try (Connection connection = connect();
                ResultSet result =
                        connection.createStatement().executeQuery("SELECT f FROM typed WHERE f IS NOT NULL")) {
            assertThat(result.next()).isTrue();
            assertThat(result.getBytes(1)).containsExactly(0, 0xff);
        }
    }

    @Test
    void whatIsWrongForAllRowsMayPass() throws Exception {
        database.sql("DROP TABLE IF EXISTS later");
        try (Sink sink = jdbc("INSERT INTO later VALUES (${n})")) {
            assertThatThrownBy(() -> sink.check().block(PATIENCE)).hasMessageContaining("later");
            assertThatThrownBy(() -> sink.send(List.of(row(1))).block(PATIENCE))
                    .isInstanceOfSatisfying(
                            SinkException.class,
                            error -> assertThat(error.isRecoverable()).isTrue());
            database.sql("CREATE TABLE later (n bigint)");

            sink.check().block(PATIENCE);
            assertThat(sink.send(List.of(row(1))).block(PATIENCE)).isEqualTo(BatchResult.DONE);
        }
    }

    @Test
    void databaseThatIsKilledIsUsedAgain() throws Exception {
        try (Sink sink = open()) {
            assertThat(sink.send(List.of(row(1))).block(PATIENCE)).isEqualTo(BatchResult.DONE);
            database.kill();
            try {
                assertThatThrownBy(() -> sink.send(List.of(row(2))).block(PATIENCE))
                        .isInstanceOfSatisfying(
                                SinkException.class,
                                error -> assertThat(error.isRecoverable()).isTrue());
            } finally {
                database.start();
            }
            await().atMost(PATIENCE)
                    .ignoreExceptions()
                    .until(() -> sink.send(List.of(row(2))).block(PATIENCE).equals(BatchResult.DONE));
        }
        assertThat(received()).startsWith(1).contains(2);
    }
}
