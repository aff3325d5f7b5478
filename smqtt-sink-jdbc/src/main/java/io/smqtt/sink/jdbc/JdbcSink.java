// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.thread.AnyThread;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Writes rows into a database, over a pool of connections with a thread for each. Connections and threads exist from the first batch on: as many as
 * the action has lanes, and one for checks.
 */
@AnyThread
final class JdbcSink implements Sink {

    private static final long LEAST_WAIT_MILLIS = 250; // the least that HikariCP takes
    private static final int THREAD_IDLE_SECONDS = 60;
    private static final int CHECK_SECONDS = 5;

    private final HikariDataSource pool = new HikariDataSource();
    private final ThreadPoolExecutor threads;
    private final BoundStatement statement;
    private final BatchWriter writer;

    /**
     * Prepares a pool. Does not connect.
     *
     * @param context the action
     * @param dialect the kind of database
     * @param statement writes a row
     * @param access URL, user and password
     */
    JdbcSink(SinkContext context, Dialect dialect, BoundStatement statement, Access access) {
        this.statement = statement;
        RuleActionConfig config = context.config();
        String name = "smqtt-rule-" + context.rule() + '-' + context.action();
        Duration timeout = config.timeout();
        int size = config.lanes() + 1;
        writer = new BatchWriter(statement, timeout);
        pool.setPoolName(name);
        pool.setDriverClassName(dialect.driver());
        pool.setJdbcUrl(access.url());
        pool.setUsername(access.user());
        pool.setPassword(access.password());
        pool.setMaximumPoolSize(size);
        pool.setMinimumIdle(0);
        pool.setAutoCommit(false);
        pool.setInitializationFailTimeout(-1); // the broker starts also while the database is down
        // a part of the time, so that the reason is reported before the batch is given up
        pool.setConnectionTimeout(Math.max(LEAST_WAIT_MILLIS, timeout.toMillis() * 3 / 4));
        pool.setValidationTimeout(Math.max(LEAST_WAIT_MILLIS, timeout.toMillis() / 2));
        dialect.properties(timeout).forEach(pool::addDataSourceProperty);
        threads = new ThreadPoolExecutor(
                size, size, THREAD_IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * How the database is reached.
     *
     * @param url the JDBC URL, which may have properties of the driver
     * @param user the user, or null
     * @param password the password, or null
     */
    record Access(
            String url, @Nullable String user, @Nullable String password) {}

    /** Work with a connection. */
    private interface Work {

        /** Does it. Blocks. */
        BatchResult with(Connection connection, BooleanSupplier givenUp) throws SQLException;
    }

    /**
     * The end of a task. A failure is a value until it leaves the thread: Reactor logs an error that comes after the last subscriber has left.
     *
     * @param result null after a failure
     * @param failure null otherwise
     */
    private record Outcome(
            @Nullable BatchResult result, @Nullable RuntimeException failure) {

        Mono<BatchResult> orError() {
            return failure != null ? Mono.error(failure) : Mono.justOrEmpty(result);
        }
    }

    /** Work with a subscriber, until it is done, cancelled, or the sink is closed. */
    private final class Task implements Runnable {

        private final Work work;
        private final MonoSink<Outcome> waiter;
        private volatile boolean givenUp;

        Task(Work work, MonoSink<Outcome> waiter) {
            this.work = work;
            this.waiter = waiter;
        }

        @Override
        public void run() {
            if (!givenUp) {
                waiter.success(outcome());
            }
        }

        private Outcome outcome() {
            boolean connected = false;
            try (Connection connection = pool.getConnection()) {
                connected = true;
                return new Outcome(work.with(connection, () -> givenUp), null);
            } catch (SinkException e) {
                return new Outcome(null, e);
            } catch (SQLException e) {
                return new Outcome(null, new SinkException(SqlFailure.of(e).reason(), true));
            } catch (RuntimeException e) {
                return new Outcome(null, connected ? e : new SinkException("no connection: " + e.getMessage(), true));
            }
        }

        /** Leaves the queue; what runs commits no more. */
        void giveUp() {
            givenUp = true;
            threads.remove(this);
        }

        void refuse() {
            waiter.success(new Outcome(null, new SinkException("the sink is closed", true)));
        }
    }

    @Override
    public Mono<BatchResult> send(List<SinkRecord> batch) {
        return on((connection, givenUp) -> writer.write(connection, batch, givenUp));
    }

    private Mono<BatchResult> on(Work work) {
        return Mono.<Outcome>create(waiter -> {
                    Task task = new Task(work, waiter);
                    waiter.onCancel(task::giveUp);
                    try {
                        threads.execute(task);
                    } catch (RejectedExecutionException e) {
                        task.refuse();
                    }
                })
                .flatMap(Outcome::orError);
    }

    /** Connects, and lets the database read the statement: tables and columns must be there. */
    @Override
    public Mono<Void> check() {
        return on((connection, givenUp) -> {
                    try (PreparedStatement prepared = connection.prepareStatement(statement.text())) {
                        prepared.setQueryTimeout(CHECK_SECONDS);
                        prepared.getParameterMetaData();
                    } catch (SQLException e) {
                        SqlFailure failure = SqlFailure.of(e);
                        if (!failure.ofRow()) { // types come with the values of rows
                            throw new SinkException(failure.reason(), true);
                        }
                    }
                    return BatchResult.DONE;
                })
                .then();
    }

    @Override
    public void close() {
        for (Runnable waiting : threads.shutdownNow()) {
            if (waiting instanceof Task task) {
                task.refuse();
            }
        }
        pool.close();
    }
}
