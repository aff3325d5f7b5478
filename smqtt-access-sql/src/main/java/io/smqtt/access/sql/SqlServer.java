// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import com.zaxxer.hikari.HikariDataSource;
import io.smqtt.ReloadResult;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSecret;
import io.smqtt.access.backend.TemplateValues;
import io.smqtt.message.LogText;
import io.smqtt.thread.AnyThread;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A pool of connections to a database, with one thread for each of them: event loops never wait for it. Connects with the first question.
 */
@AnyThread
final class SqlServer implements AutoCloseable {

    private static final int STATEMENTS_PER_REQUEST = 3; // the rules of style go-auth are asked for at once
    private static final int THREAD_IDLE_SECONDS = 60;
    private static final long LEAST_WAIT_MILLIS = 250;
    private static final long MILLIS_PER_SECOND = 1_000;
    private static final String DATA_EXCEPTION = "22";

    private final HikariDataSource pool;
    private final @Nullable BackendSecret password;
    private final Scheduler threads;
    private final int timeoutSeconds;

    /**
     * Prepares a pool. Does not connect.
     *
     * @param context the backend: its name, the number of connections, and the time for one request
     * @param dialect the kind of database
     * @param url the JDBC URL, which may have properties of the driver
     * @param user the user, or null
     * @param password the password, or null
     */
    SqlServer(
            BackendContext context,
            Dialect dialect,
            String url,
            @Nullable String user,
            @Nullable BackendSecret password) {
        this.password = password;
        int size = context.config().maxConcurrent();
        Duration timeout = context.config().timeout();
        pool = new HikariDataSource();
        pool.setPoolName("smqtt-access-" + context.name());
        pool.setDriverClassName(dialect.driver());
        pool.setJdbcUrl(url);
        pool.setUsername(user);
        pool.setPassword(password == null ? null : password.text());
        pool.setMaximumPoolSize(size);
        pool.setMinimumIdle(1);
        pool.setInitializationFailTimeout(-1); // the broker starts also while the database is down
        // a part of the time, so that the reason is reported before nobody waits any more
        pool.setConnectionTimeout(Math.max(LEAST_WAIT_MILLIS, timeout.toMillis() * 3 / 4));
        pool.setValidationTimeout(Math.max(LEAST_WAIT_MILLIS, timeout.toMillis() / 2));
        dialect.properties(timeout).forEach(pool::addDataSourceProperty);
        threads = Schedulers.newBoundedElastic(
                size,
                STATEMENTS_PER_REQUEST * size,
                "smqtt-access-" + context.name() + "-sql",
                THREAD_IDLE_SECONDS,
                true);
        timeoutSeconds = (int) -Math.floorDiv(-timeout.toMillis(), MILLIS_PER_SECOND);
    }

    /**
     * Asks the database.
     *
     * @param statement the question
     * @param client has the values of its parameters
     * @param maximumRows of which no more are read
     * @return the rows, in their order; an error if the database has failed, without values of clients
     */
    Mono<List<SqlRow>> rows(SqlStatement statement, TemplateValues client, int maximumRows) {
        List<@Nullable String> values = statement.values(client);
        return Mono.fromCallable(() -> ask(statement.text(), values, maximumRows))
                .subscribeOn(threads)
                .flatMap(Answer::result);
    }

    /**
     * Rows or a failure. A failure is a value until it leaves the thread: an error is logged if it comes when nobody waits any more.
     *
     * @param rows empty after a failure
     * @param failure null if there are rows
     */
    private record Answer(List<SqlRow> rows, @Nullable SqlFailedException failure) {

        Mono<List<SqlRow>> result() {
            SqlFailedException failed = failure;
            return failed == null ? Mono.just(rows) : Mono.error(failed);
        }
    }

    private Answer ask(String text, List<@Nullable String> values, int maximumRows) {
        try (Connection connection = pool.getConnection();
                PreparedStatement prepared = connection.prepareStatement(text)) {
            prepared.setQueryTimeout(timeoutSeconds);
            prepared.setMaxRows(maximumRows);
            for (int i = 0; i < values.size(); i++) {
                prepared.setString(i + 1, values.get(i));
            }
            try (ResultSet result = prepared.executeQuery()) {
                return new Answer(SqlRow.read(result), null);
            }
        } catch (SQLException e) {
            return new Answer(List.of(), new SqlFailedException(e));
        }
    }

    /** Reads the password again, which new connections use. Blocks. */
    ReloadResult reload() {
        if (password == null) {
            return ReloadResult.NOTHING;
        }
        ReloadResult result = password.reload();
        pool.setPassword(password.text());
        return result;
    }

    /** Closes connections and threads. Blocks for some seconds at most. */
    @Override
    public void close() {
        threads.dispose();
        pool.close();
    }

    /** A failure of the database, with a message that can be logged. */
    static final class SqlFailedException extends Exception {

        private static final long serialVersionUID = 1L;

        private final boolean unsuitable;

        SqlFailedException(SQLException failure) {
            super(message(failure), null, false, false);
            String state = failure.getSQLState();
            unsuitable = state != null && state.startsWith(DATA_EXCEPTION);
        }

        /**
         * Whether a value of the client does not fit the type of a column, or has a character that the database does not have: no row
         * can have it. No failure of the database, or clients could have it taken out of use.
         */
        boolean isUnsuitableValue() {
            return unsuitable;
        }

        /** The innermost reason, in one line. */
        private static String message(SQLException failure) {
            Throwable reason = failure;
            while (reason.getCause() != null && reason.getCause() != reason) {
                reason = reason.getCause();
            }
            String state = failure.getSQLState();
            return (state == null ? "" : "SQL state " + state + ": ") + LogText.escape(reason.toString());
        }
    }
}
