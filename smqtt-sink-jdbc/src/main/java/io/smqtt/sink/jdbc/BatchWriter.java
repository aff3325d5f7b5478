// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes batches, each in one transaction. A batch with a row that the database refuses is rolled back and written in halves, in the order of its
 * rows, until the row is alone: about twice the logarithm of the batch's size in transactions for each such row.
 */
final class BatchWriter {

    private static final long MILLIS_PER_SECOND = 1_000;

    private final BoundStatement statement;
    private final int timeoutSeconds;
    private final long mostSplittingNanos;

    BatchWriter(BoundStatement statement, Duration timeout) {
        this.statement = statement;
        this.timeoutSeconds = (int) Math.max(1, timeout.toMillis() / MILLIS_PER_SECOND);
        this.mostSplittingNanos = timeout.toNanos() / 2;
    }

    /** Rows that are next to each other. */
    private record Range(int from, int to) {

        int size() {
            return to - from;
        }
    }

    /**
     * Writes rows. Blocks.
     *
     * @param connection without autocommit
     * @param rows the rows
     * @param givenUp whether the result is not waited for any more; nothing is committed then
     * @return the rows that were refused; after a failure that may pass, all rows from the first one on that is not written
     * @throws SinkException after a failure that may pass, if no row is settled
     */
    BatchResult write(Connection connection, List<SinkRecord> rows, BooleanSupplier givenUp) {
        long began = System.nanoTime();
        List<Refusal> refusals = new ArrayList<>();
        Deque<Range> waiting = new ArrayDeque<>();
        waiting.push(new Range(0, rows.size()));
        while (!waiting.isEmpty()) {
            Range range = waiting.pop();
            SqlFailure failure = insert(connection, rows.subList(range.from(), range.to()), givenUp);
            boolean late = failure != null && range.from() > 0 && System.nanoTime() - began > mostSplittingNanos;
            if (failure != null && (!failure.ofRow() || (late && range.size() > 1))) {
                return rest(refusals, range.from(), rows.size(), failure.reason());
            }
            if (failure != null && range.size() == 1) {
                refusals.add(new Refusal(range.from(), failure.reason(), false));
            } else if (failure != null) {
                int middle = range.from() + range.size() / 2;
                waiting.push(new Range(middle, range.to()));
                waiting.push(new Range(range.from(), middle));
            }
        }
        return refusals.isEmpty() ? BatchResult.DONE : new BatchResult(refusals);
    }

    private static BatchResult rest(List<Refusal> refusals, int from, int to, String reason) {
        if (from == 0) {
            throw new SinkException(reason, true);
        }
        for (int i = from; i < to; i++) {
            refusals.add(new Refusal(i, reason, true));
        }
        return new BatchResult(refusals);
    }

    /** One transaction. Returns why it was rolled back, or null. */
    private @Nullable SqlFailure insert(Connection connection, List<SinkRecord> rows, BooleanSupplier givenUp) {
        try (PreparedStatement prepared = connection.prepareStatement(statement.text())) {
            prepared.setQueryTimeout(timeoutSeconds);
            for (SinkRecord each : rows) {
                statement.bind(prepared, each.row());
                prepared.addBatch();
            }
            prepared.executeBatch();
            if (givenUp.getAsBoolean()) {
                rollBack(connection);
                return new SqlFailure("given up", false);
            }
            connection.commit();
            return null;
        } catch (SQLException e) {
            rollBack(connection);
            return SqlFailure.of(e);
        }
    }

    private static void rollBack(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            // the connection has ended, and with it the transaction
        }
    }
}
