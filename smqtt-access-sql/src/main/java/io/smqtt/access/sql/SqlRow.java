// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A row of an answer: texts by the names of its columns in lower case. Immutable but for its map, which nobody changes.
 *
 * @param columns the values, null for NULL, in the order of the statement
 */
record SqlRow(Map<String, @Nullable String> columns) {

    /** Reads all rows. */
    static List<SqlRow> read(ResultSet result) throws SQLException {
        ResultSetMetaData meta = result.getMetaData();
        List<SqlRow> rows = new ArrayList<>();
        while (result.next()) {
            Map<String, @Nullable String> columns = new LinkedHashMap<>();
            for (int i = 1; i <= meta.getColumnCount(); i++) {
                columns.put(meta.getColumnLabel(i).toLowerCase(Locale.ROOT), result.getString(i));
            }
            rows.add(new SqlRow(columns));
        }
        return rows;
    }

    /** {@return the value of a column; null if it is NULL or absent} */
    @Nullable
    String text(String column) {
        return columns.get(column);
    }

    /** {@return the value of a column; null if it is NULL, empty or absent} */
    @Nullable
    String textOrEmpty(String column) {
        String text = columns.get(column);
        return text == null || text.isEmpty() ? null : text;
    }

    /** {@return the value of the first column, or null} */
    @Nullable
    String first() {
        return columns.values().iterator().next();
    }

    /** {@return whether a column is true, or a number other than 0} */
    boolean isTrue(String column) {
        return isYes(columns.get(column));
    }

    /** {@return whether a value is true in the notation of one of the databases, or a number other than 0} */
    static boolean isYes(@Nullable String text) {
        return text != null && (text.equals("t") || text.equals("true") || text.matches("-?0*[1-9][0-9]*"));
    }
}
