// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSecret;
import io.smqtt.access.backend.BackendSetting;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.Template;
import io.smqtt.access.hash.PasswordChecks;
import io.smqtt.access.hash.PasswordFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Makes backends of the type {@code sql}. */
public final class SqlBackendFactory implements AccessBackendFactory {

    private static final String EMQX = "emqx";
    private static final List<String> OF_EMQX = List.of("query", "acl-query");
    private static final List<String> OF_GO_AUTH = List.of("userquery", "superquery", "aclquery");

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public SqlBackendFactory() {}

    @Override
    public String type() {
        return "sql";
    }

    @Override
    public List<BackendSetting> settings() {
        List<BackendSetting> settings = new ArrayList<>(List.of(
                BackendSetting.choice(
                        "style",
                        EMQX,
                        List.of(EMQX, "go-auth"),
                        "the form of statements and tables: `emqx` or `go-auth`"),
                BackendSetting.text("url", "the database, such as `jdbc:postgresql://db.example:5432/mqtt`")
                        .required(),
                BackendSetting.text("username", "the user of the database"),
                BackendSetting.text("password", "its password").secret(),
                BackendSetting.file("password-file", "a file with the password"),
                BackendSetting.text(
                        "query", "`emqx`: the statement that fetches `password_hash`, `salt`, `is_superuser`"),
                BackendSetting.text("acl-query", "`emqx`: the statement that fetches access rules"),
                BackendSetting.text("userquery", "`go-auth`: the statement that fetches the password hash of a user"),
                BackendSetting.text(
                        "superquery", "`go-auth`: the statement that says whether a user may do everything"),
                BackendSetting.text("aclquery", "`go-auth`: the statement that fetches topic filters of a user")));
        settings.addAll(PasswordFormat.settings());
        return settings;
    }

    @Override
    public AccessBackend open(BackendSettings settings, BackendContext context) {
        boolean emqx = settings.text("style").equals(EMQX);
        for (String key : emqx ? OF_GO_AUTH : OF_EMQX) {
            if (settings.has(key)) {
                throw settings.problem(key, "is for style " + (emqx ? "go-auth" : EMQX) + " only");
            }
        }
        Dialect dialect = dialect(settings);
        PasswordFormat format = PasswordFormat.of(settings, emqx ? "sha256" : "auto");
        return emqx ? emqx(settings, context, dialect, format) : goAuth(settings, context, dialect, format);
    }

    private static AccessBackend emqx(
            BackendSettings settings, BackendContext context, Dialect dialect, PasswordFormat format) {
        SqlStatement users =
                statement(settings, "query", text -> SqlStatement.emqx(text, dialect, Template.Scope.USER));
        SqlStatement rules =
                statement(settings, "acl-query", text -> SqlStatement.emqx(text, dialect, Template.Scope.RULES));
        if (users == null && rules == null) {
            throw settings.problem("query", "must be set, or acl-query");
        }
        return new EmqxSqlBackend(
                server(settings, context, dialect), new PasswordChecks(format, context), users, rules);
    }

    private static AccessBackend goAuth(
            BackendSettings settings, BackendContext context, Dialect dialect, PasswordFormat format) {
        List<String> user = List.of("username");
        SqlStatement users = statement(settings, "userquery", text -> SqlStatement.goAuth(text, dialect, user));
        SqlStatement superusers = statement(settings, "superquery", text -> SqlStatement.goAuth(text, dialect, user));
        SqlStatement topics = statement(
                settings, "aclquery", text -> SqlStatement.goAuth(text, dialect, List.of("username", "access")));
        if (users == null && topics == null) {
            throw settings.problem("userquery", "must be set, or aclquery");
        }
        if (users == null && superusers != null) {
            throw settings.problem("superquery", "needs userquery");
        }
        return new GoAuthSqlBackend(
                server(settings, context, dialect), new PasswordChecks(format, context), users, superusers, topics);
    }

    /** Reads the statement of a key. */
    private interface Reader {

        /**
         * Reads a statement.
         *
         * @throws IllegalArgumentException with the rest of a sentence that begins with the key
         */
        SqlStatement read(String text);
    }

    private static @Nullable SqlStatement statement(BackendSettings settings, String key, Reader reader) {
        String text = settings.textOrNull(key);
        try {
            return text == null ? null : reader.read(text);
        } catch (IllegalArgumentException e) {
            throw settings.problem(key, String.valueOf(e.getMessage()));
        }
    }

    private static Dialect dialect(BackendSettings settings) {
        String url = settings.text("url");
        Dialect dialect = Dialect.of(url);
        if (dialect == null) {
            throw settings.problem(
                    "url",
                    "must begin with jdbc:postgresql: or jdbc:mariadb:"
                            + (url.startsWith("jdbc:mysql:") ? "; the driver of MariaDB connects to MySQL, too" : ""));
        }
        String lower = url.toLowerCase(Locale.ROOT);
        if (lower.contains("password=") || lower.matches("[^?]*//[^/]*@.*")) {
            throw settings.problem("url", "must not have a password; set password-file");
        }
        try {
            Class.forName(dialect.driver(), false, SqlBackendFactory.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw settings.problem(
                    "url",
                    "needs the driver " + dialect.driver() + ", whose jar belongs into the folder of this extension");
        }
        return dialect;
    }

    private static SqlServer server(BackendSettings settings, BackendContext context, Dialect dialect) {
        String user = settings.textOrNull("username");
        BackendSecret password = BackendSecret.of(settings, "password");
        if (user == null && password != null) {
            throw settings.problem(
                    "username", "must be set: a password needs its user, which is not taken from the url");
        }
        return new SqlServer(context, dialect, settings.text("url"), user, password);
    }
}
