// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A kind of database, with its driver and its notation of texts and comments. */
enum Dialect {
    /** PostgreSQL and what speaks its protocol, such as Timescale; its driver is part of the extension. */
    POSTGRESQL(
            "jdbc:postgresql:",
            "org.postgresql.Driver",
            "(?<![\\w$])[eE]'(?:[^'\\\\]++|\\\\(?s:.)|'')*+'|'(?:[^']++|'')*+'|\"(?:[^\"]++|\"\")*+\"|--[^\\n]*+|/\\*(?s:.*?)\\*/"
                    + "|(?<![\\w$])\\$(?<tag>[A-Za-z_]\\w*|)\\$(?s:.*?)\\$\\k<tag>\\$",
            "['\"]|/\\*"),
    /** MariaDB and MySQL, by the driver of MariaDB, which the operator adds. */
    MARIADB(
            "jdbc:mariadb:",
            "org.mariadb.jdbc.Driver",
            "'(?:[^'\\\\]++|\\\\(?s:.)|'')*+'|\"(?:[^\"\\\\]++|\\\\(?s:.)|\"\")*+\"|`[^`]*+`|--[^\\n]*+|#[^\\n]*+|/\\*(?s:.*?)\\*/",
            "['\"`]|/\\*");

    private static final long MILLIS_PER_SECOND = 1_000;

    private final String prefix;
    private final String driver;
    private final Pattern tokens;

    Dialect(String prefix, String driver, String quoted, String open) {
        this.prefix = prefix;
        this.driver = driver;
        this.tokens = Pattern.compile(
                "(?<quoted>" + quoted + ")|(?<placeholder>\\$\\{[^}]*+})|(?<open>" + open + ")|(?<mark>\\?)");
    }

    /** {@return the dialect of a JDBC URL; null if it has none} */
    static @Nullable Dialect of(String url) {
        for (Dialect dialect : values()) {
            if (url.startsWith(dialect.prefix)) {
                return dialect;
            }
        }
        return null;
    }

    /** {@return the class of the driver} */
    String driver() {
        return driver;
    }

    /**
     * {@return what matters in a statement, as the groups {@code quoted} for texts, names in quotes and comments, {@code placeholder},
     * {@code open} for quotes and comments that do not end, and {@code mark} for a parameter of JDBC}
     */
    Pattern tokens() {
        return tokens;
    }

    /**
     * Properties of connections: values are sent apart from statements, and a server that does not answer is given up.
     *
     * @param timeout the time for one batch; the driver waits a second longer, so that the server can end the statement first
     * @return names and values of the driver
     */
    Map<String, String> properties(Duration timeout) {
        long seconds = -Math.floorDiv(-timeout.toMillis(), MILLIS_PER_SECOND) + 1;
        return switch (this) {
            case POSTGRESQL ->
                Map.of(
                        "connectTimeout", String.valueOf(seconds),
                        "socketTimeout", String.valueOf(seconds),
                        "loginTimeout", String.valueOf(seconds),
                        "tcpKeepAlive", "true",
                        "ApplicationName", "smqtt",
                        // a text takes the type of its column, such as timestamptz or jsonb
                        "stringtype", "unspecified",
                        // else messages, which are logged, would have values of rows
                        "logServerErrorDetail", "false");
            case MARIADB ->
                Map.of(
                        "connectTimeout", String.valueOf(seconds * MILLIS_PER_SECOND),
                        "socketTimeout", String.valueOf(seconds * MILLIS_PER_SECOND),
                        "tcpKeepAlive", "true",
                        "useServerPrepStmts", "true",
                        "allowMultiQueries", "false",
                        "allowLocalInfile", "false");
        };
    }
}
