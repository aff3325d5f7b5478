// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.SinkSettings;
import java.util.List;
import java.util.Locale;

/** Makes sinks of the type {@code jdbc}, which write rows into PostgreSQL, MariaDB and MySQL by a statement with bound values. */
public final class JdbcSinkFactory implements SinkFactory {

    private static final String URL = "url";
    private static final String USERNAME = "username";
    private static final String PASSWORD = "password-file";
    private static final String STATEMENT = "statement";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public JdbcSinkFactory() {}

    @Override
    public String type() {
        return "jdbc";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.text(
                                URL,
                                null,
                                "the database, such as `jdbc:postgresql://db.example:5432/plant` or `jdbc:mariadb://db.example/plant`, with properties of the driver behind a `?`")
                        .required(),
                SinkSetting.text(USERNAME, null, "the user of the database"),
                SinkSetting.file(PASSWORD, "a file whose first line is the password"),
                SinkSetting.template(
                                STATEMENT,
                                null,
                                "the statement that writes a row, such as an `INSERT`; each placeholder is a bound value, never a part of the text")
                        .required());
    }

    @Override
    public Sink open(SinkContext context) {
        SinkSettings settings = context.settings();
        Dialect dialect = dialect(settings);
        JdbcSink.Access access =
                new JdbcSink.Access(settings.text(URL), settings.textOrNull(USERNAME), settings.secret(PASSWORD));
        return new JdbcSink(context, dialect, statement(context, dialect), access);
    }

    private static BoundStatement statement(SinkContext context, Dialect dialect) {
        try {
            return BoundStatement.parse(
                    context.settings().text(STATEMENT), dialect, text -> context.template(STATEMENT, text));
        } catch (IllegalArgumentException e) {
            throw context.settings().problem(STATEMENT, String.valueOf(e.getMessage()));
        }
    }

    private static Dialect dialect(SinkSettings settings) {
        String url = settings.text(URL);
        Dialect dialect = Dialect.of(url);
        if (dialect == null) {
            throw settings.problem(
                    URL,
                    "must begin with jdbc:postgresql: or jdbc:mariadb:"
                            + (url.startsWith("jdbc:mysql:") ? "; the driver of MariaDB connects to MySQL, too" : ""));
        }
        String lower = url.toLowerCase(Locale.ROOT);
        if (lower.contains("password=") || lower.matches("[^?]*//[^/]*@.*")) {
            throw settings.problem(URL, "must not have a password; set " + PASSWORD);
        }
        try {
            Class.forName(dialect.driver(), false, JdbcSinkFactory.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw settings.problem(
                    URL,
                    "needs the driver " + dialect.driver() + ", whose jar belongs into the folder of this extension");
        }
        return dialect;
    }
}
