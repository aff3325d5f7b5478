// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.thread.AnyThread;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/**
 * A statement with a parameter in place of each placeholder. Values of rows are bound to the parameters, and are never part of the text. Immutable.
 *
 * @param text the text, with a {@code ?} for each parameter
 * @param values the templates of the parameters, in their order, each a placeholder alone
 */
@AnyThread
record BoundStatement(String text, List<RowTemplate> values) {

    /** Copies the templates. */
    BoundStatement {
        values = List.copyOf(values);
    }

    /**
     * Reads a statement.
     *
     * @param text with placeholders such as <code>${clientid}</code>, outside of quotes and comments
     * @param template parses a placeholder
     * @throws IllegalArgumentException with the rest of a sentence that begins with the key
     */
    static BoundStatement parse(String text, Dialect dialect, Function<String, RowTemplate> template) {
        List<RowTemplate> values = new ArrayList<>();
        StringBuilder statement = new StringBuilder();
        Matcher tokens = dialect.tokens().matcher(text);
        while (tokens.find()) {
            if (tokens.group("placeholder") != null) {
                values.add(template.apply(tokens.group()));
                tokens.appendReplacement(statement, "?");
            } else {
                refuse(tokens);
                tokens.appendReplacement(statement, Matcher.quoteReplacement(tokens.group()));
            }
        }
        tokens.appendTail(statement);
        if (statement.toString().isBlank()) {
            throw new IllegalArgumentException("is empty");
        }
        return new BoundStatement(statement.toString(), values);
    }

    private static void refuse(Matcher tokens) {
        String quoted = tokens.group("quoted");
        if (tokens.group("mark") != null) {
            throw new IllegalArgumentException("has a ?, which would be a parameter; write ${...}");
        }
        if (quoted == null) {
            throw new IllegalArgumentException("has " + tokens.group() + " that is not closed");
        }
        int placeholder = quoted.indexOf("${");
        if (placeholder >= 0) {
            throw new IllegalArgumentException(
                    "has " + quoted.substring(placeholder, quoted.indexOf('}', placeholder) + 1)
                            + " inside of quotes or a comment; write it without, it is a bound value");
        }
    }

    /**
     * Binds the values of a row.
     *
     * @throws SQLException if the driver cannot take one
     */
    void bind(PreparedStatement prepared, Map<String, @Nullable Object> row) throws SQLException {
        for (int i = 0; i < values.size(); i++) {
            bind(prepared, i + 1, values.get(i).value(row));
        }
    }

    private static void bind(PreparedStatement prepared, int index, @Nullable Object value) throws SQLException {
        if (value == null) {
            prepared.setNull(index, Types.NULL);
        } else if (value instanceof String text) {
            prepared.setString(index, text);
        } else if (value instanceof Long number) {
            prepared.setLong(index, number);
        } else if (value instanceof Double number) {
            prepared.setDouble(index, number);
        } else if (value instanceof Boolean flag) {
            prepared.setBoolean(index, flag);
        } else if (value instanceof BigInteger number) {
            prepared.setBigDecimal(index, new BigDecimal(number));
        } else if (value instanceof byte[] bytes) {
            prepared.setBytes(index, bytes);
        } else {
            prepared.setString(index, RowText.json(value));
        }
    }
}
