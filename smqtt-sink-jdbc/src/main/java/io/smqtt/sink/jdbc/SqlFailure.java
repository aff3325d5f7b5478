// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import io.smqtt.message.LogText;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.util.Set;

/**
 * The meaning of a failure of the database. Only failures whose cause is in a row are the row's: what is wrong with the connection, the server, the
 * tables, rights or the statement itself is so for all rows, and may be mended, so that the rows wait.
 *
 * @param reason a sentence for operators, without values of rows
 * @param ofRow whether the same row would fail again
 */
record SqlFailure(String reason, boolean ofRow) {

    /** Cardinality, data, constraints, views with a check, limits such as the size of a row, and exceptions of triggers. */
    private static final Set<String> CLASSES_OF_ROWS = Set.of("21", "22", "23", "44", "45", "54", "P0");

    /** Types that do not fit the statement, which those of PostgreSQL's values may not. */
    private static final Set<String> STATES_OF_ROWS = Set.of("42804", "42846", "42883", "42P08", "42P18");

    /** MySQL's state for what has no other; values that do not fit are among it. */
    private static final String GENERAL = "HY000";

    /** Of these: disk full, out of memory, lock wait timeout, read-only, table full, no default, statement timeout. */
    private static final Set<Integer> PASSING = Set.of(1021, 1037, 1041, 1114, 1205, 1290, 1364, 1836, 3024);

    /** Failures whose message has values in quotes: those of data, and MariaDB's of constraints. */
    private static final String DATA = "22";

    private static final String CONSTRAINT = "23000";

    /**
     * Reads a failure.
     *
     * @param failure of a statement or a batch
     */
    static SqlFailure of(SQLException failure) {
        SQLException first = first(failure);
        String state = first.getSQLState();
        if (state == null || state.length() < 2) {
            return new SqlFailure(message(first), false);
        }
        boolean ofRow = CLASSES_OF_ROWS.contains(state.substring(0, 2))
                || STATES_OF_ROWS.contains(state)
                || (state.equals(GENERAL) && first.getErrorCode() > 0 && !PASSING.contains(first.getErrorCode()));
        boolean hasValues = ofRow && (state.startsWith(DATA) || state.equals(CONSTRAINT) || state.equals(GENERAL));
        String message = message(first);
        return new SqlFailure("SQL state " + state + ": " + (hasValues ? withoutValues(message) : message), ofRow);
    }

    /** The failure of the first row of a batch that has one; the text of the batch's has values. */
    private static SQLException first(SQLException failure) {
        if (failure instanceof BatchUpdateException) {
            SQLException next = failure.getNextException();
            return next != null ? next : failure.getCause() instanceof SQLException cause ? cause : failure;
        }
        return failure;
    }

    /** The innermost reason, in one line. */
    private static String message(SQLException failure) {
        Throwable reason = failure;
        while (reason.getCause() != null && reason.getCause() != reason) {
            reason = reason.getCause();
        }
        String message = reason.getMessage();
        return LogText.escape(
                message == null
                        ? reason.getClass().getSimpleName()
                        : message.lines().findFirst().orElse(""));
    }

    private static String withoutValues(String message) {
        int quote = 0;
        while (quote < message.length() && "\"'".indexOf(message.charAt(quote)) < 0) {
            quote++;
        }
        return quote == message.length() ? message : message.substring(0, quote).stripTrailing() + " …";
    }
}
