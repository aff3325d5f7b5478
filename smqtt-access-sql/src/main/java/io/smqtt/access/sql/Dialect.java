// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A kind of database, with its driver and its quotes. */
enum Dialect {
    /** PostgreSQL; its driver is part of the extension. */
    POSTGRESQL("jdbc:postgresql:", "org.postgresql.Driver"),
    /** MariaDB and MySQL, by the driver of MariaDB, which the operator adds. */
    MARIADB("jdbc:mariadb:", "org.mariadb.jdbc.Driver");

    private static final long MILLIS_PER_SECOND = 1_000;

    private final String prefix;
    private final String driver;

    Dialect(String prefix, String driver) {
        this.prefix = prefix;
        this.driver = driver;
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

    /** {@return whether a backslash in a text makes the next character part of it} */
    boolean escapesByBackslash() {
        return this == MARIADB;
    }

    /** {@return whether {@code #} begins a comment, and a grave accent a name} */
    boolean hasMarks() {
        return this == MARIADB;
    }

    /** {@return whether {@code $tag$} begins a text} */
    boolean hasDollarQuotes() {
        return this == POSTGRESQL;
    }

    /**
     * Properties of connections: values are sent apart from statements, and a server that does not answer is given up.
     *
     * @param timeout the time for one request; the driver waits a second longer, so that the server can end the statement first
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
                        // the server gives a parameter the type of the column, as for EMQX
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
