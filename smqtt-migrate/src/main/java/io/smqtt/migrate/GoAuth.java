// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;
import static io.smqtt.migrate.Rule.unguarded;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The options of the plugin mosquitto-go-auth, {@code auth_opt_*} or {@code plugin_opt_*}, as {@code access.chain} and its backends. A backend that
 * has no counterpart is left out: clients that only it knows are refused.
 */
final class GoAuth {

    private static final String HTTP = "access.backends.http.";
    private static final String JWT = "access.backends.jwt.";
    private static final String REDIS = "access.backends.redis.";
    private static final String PASSWORD_FILE = "password-file";
    private static final int SECRET_BYTES = 32;
    private static final String HASHES = "set the passwords anew with bin/smqtt passwd";
    private static final String NO_BACKEND = "there is no such backend here; clients that only it knows are refused";
    private static final String SALT_ENCODING = "access.backends.<name>.hash.salt-encoding";
    private static final String LOG = "the log goes to standard error: logging.level";

    static final RuleTable<GoAuth> RULES = new RuleTable<>(Stream.of(
                    List.<Rule<GoAuth>>of(
                            same("auth_opt_backends", "access.chain", taken()),
                            same("auth_opt_*_register", "access.backends.<name>.checks", taken()),
                            differs(
                                    "auth_opt_check_prefix",
                                    "access.backends.<name>.user-prefix",
                                    "user names without one of the prefixes are unknown; there all backends are asked about them",
                                    taken()),
                            same("auth_opt_prefixes", "access.backends.<name>.user-prefix", taken()),
                            same("auth_opt_disable_superuser", "access.backends.<name>.superuser-uri", taken()),
                            same("auth_opt_cache", "access.backends.<name>.cache-ttl", taken()),
                            same("auth_opt_auth_cache_seconds", "access.backends.<name>.cache-ttl", taken()),
                            differs(
                                    "auth_opt_acl_cache_seconds",
                                    "access.backends.<name>.cache-ttl",
                                    "one time for users and topics, the shorter one",
                                    taken()),
                            none("auth_opt_auth_jitter_seconds", "10 % for answers, 20 % for refusals"),
                            none("auth_opt_acl_jitter_seconds", "10 % for answers, 20 % for refusals"),
                            none(
                                    "auth_opt_cache_*",
                                    "answers are kept in the memory of the broker, and a use does not prolong them"),
                            same("auth_opt_hasher_salt_encoding", SALT_ENCODING, taken()),
                            none(
                                    "auth_opt_hasher*",
                                    "a stored hash says its kind and parameters itself; the broker makes none"),
                            none(
                                    "auth_opt_retry_*",
                                    "a request that fails is not repeated; access.backends.<name>.on-failure"),
                            none("auth_opt_exhaust_backend_first", "for each check all backends are asked in order"),
                            unguarded(
                                    "auth_opt_use_clientid_as_username",
                                    "clients are known by the user name that they send"),
                            none("auth_opt_log_*", LOG),
                            differs("auth_opt_files_password_path", "access.password-file", HASHES, taken()),
                            differs("auth_opt_password_path", "access.password-file", HASHES, taken()),
                            differs(
                                    "auth_opt_files_acl_path",
                                    "access.acl-file",
                                    "the same file; a denying rule always wins",
                                    GoAuth::aclFile),
                            differs(
                                    "auth_opt_acl_path",
                                    "access.acl-file",
                                    "the same file; a denying rule always wins",
                                    GoAuth::aclFile),
                            same("auth_opt_http_host", "access.backends.<name>.url", taken()),
                            same("auth_opt_http_port", "access.backends.<name>.url", taken()),
                            same("auth_opt_http_with_tls", "access.backends.<name>.url", taken()),
                            same("auth_opt_http_getuser_uri", "access.backends.<name>.getuser-uri", uri("getuser-uri")),
                            same(
                                    "auth_opt_http_superuser_uri",
                                    "access.backends.<name>.superuser-uri",
                                    GoAuth::superuser),
                            differs(
                                    "auth_opt_http_aclcheck_uri",
                                    "access.backends.<name>.aclcheck-uri",
                                    "asked when a client publishes or subscribes, not for each delivery (acc 1)",
                                    uri("aclcheck-uri")),
                            same("auth_opt_http_params_mode", "access.backends.<name>.params-mode", GoAuth::mode),
                            same("auth_opt_http_response_mode", "access.backends.<name>.response-mode", GoAuth::mode),
                            same("auth_opt_http_timeout", "access.backends.<name>.timeout", GoAuth::timeout),
                            new Rule<>(
                                    "auth_opt_http_verify_peer",
                                    Outcome.SAME,
                                    "access.backends.<name>.ca",
                                    "certificates of servers are always checked",
                                    GoAuth::verify),
                            new Rule<>(
                                    "auth_opt_http_method",
                                    Outcome.SAME,
                                    "",
                                    "requests are always POST",
                                    GoAuth::method),
                            none("auth_opt_http_*", "not configurable"),
                            same("auth_opt_jwt_mode", "access.backends.<name>.type", taken()),
                            new Rule<>(
                                    "auth_opt_jwt_secret",
                                    Outcome.SAME,
                                    "access.backends.<name>.secret-file",
                                    "written to a file for its owner only; at least 32 bytes",
                                    GoAuth::secret),
                            differs(
                                    "auth_opt_jwt_userfield",
                                    "access.backends.<name>.from",
                                    "rules for users apply to the user name of CONNECT; give the token an acl claim",
                                    taken()),
                            none(
                                    "auth_opt_jwt_*",
                                    "tokens with a secret only: the token is the user name, and its acl claim has the rules"),
                            same("auth_opt_pg_host", "access.backends.<name>.url", taken()),
                            same("auth_opt_pg_port", "access.backends.<name>.url", taken()),
                            same("auth_opt_pg_dbname", "access.backends.<name>.url", taken()),
                            same("auth_opt_pg_sslmode", "access.backends.<name>.url", taken()),
                            same("auth_opt_pg_sslrootcert", "access.backends.<name>.url", taken()),
                            same("auth_opt_pg_user", "access.backends.<name>.username", taken()),
                            fileRule("auth_opt_pg_password"),
                            same("auth_opt_pg_userquery", "access.backends.<name>.userquery", taken()),
                            same("auth_opt_pg_superquery", "access.backends.<name>.superquery", taken()),
                            same("auth_opt_pg_aclquery", "access.backends.<name>.aclquery", taken()),
                            same("auth_opt_pg_hasher_salt_encoding", SALT_ENCODING, taken()),
                            none("auth_opt_pg_*", "not configurable, or a property of the driver in url"),
                            same("auth_opt_mysql_host", "access.backends.<name>.url", taken()),
                            same("auth_opt_mysql_port", "access.backends.<name>.url", taken()),
                            same("auth_opt_mysql_dbname", "access.backends.<name>.url", taken()),
                            same("auth_opt_mysql_user", "access.backends.<name>.username", taken()),
                            fileRule("auth_opt_mysql_password"),
                            same("auth_opt_mysql_userquery", "access.backends.<name>.userquery", taken()),
                            same("auth_opt_mysql_superquery", "access.backends.<name>.superquery", taken()),
                            same("auth_opt_mysql_aclquery", "access.backends.<name>.aclquery", taken()),
                            same("auth_opt_mysql_hasher_salt_encoding", SALT_ENCODING, taken()),
                            none("auth_opt_mysql_*", "not configurable, or a property of the driver in url"),
                            none("auth_opt_sqlite_*", NO_BACKEND),
                            same("auth_opt_redis_host", "access.backends.<name>.url", taken()),
                            same("auth_opt_redis_port", "access.backends.<name>.url", taken()),
                            same("auth_opt_redis_mode", "access.backends.<name>.mode", taken()),
                            same("auth_opt_redis_cluster_addresses", "access.backends.<name>.url", taken()),
                            same("auth_opt_redis_db", "access.backends.<name>.database", taken()),
                            fileRule("auth_opt_redis_password"),
                            same("auth_opt_redis_disable_superuser", "access.backends.<name>.superusers", taken()),
                            same("auth_opt_redis_hasher_salt_encoding", SALT_ENCODING, taken()),
                            none("auth_opt_redis_*", "not configurable"),
                            none("auth_opt_mongo_*", NO_BACKEND)),
                    GoAuthLdap.rules(),
                    List.<Rule<GoAuth>>of(
                            none("auth_opt_grpc_*", NO_BACKEND),
                            none("auth_opt_js_*", NO_BACKEND),
                            none("auth_opt_plugin_*", NO_BACKEND),
                            none("auth_opt_*", "it is not a known option of mosquitto-go-auth")))
            .flatMap(List::stream)
            .toList());

    private final Draft draft;
    private final Map<String, OldSetting> options = new LinkedHashMap<>();
    private final List<String> backends;

    private GoAuth(Draft draft, List<OldSetting> settings) {
        this.draft = draft;
        settings.forEach(setting -> options.put(option(setting), setting));
        this.backends = words(text("backends", ""));
    }

    /** A value that is written together with others. */
    static BiConsumer<GoAuth, OldSetting> taken() {
        return (auth, setting) -> {};
    }

    private static Rule<GoAuth> fileRule(String key) {
        return new Rule<>(
                key,
                Outcome.SAME,
                "access.backends.<name>.password-file",
                "written to a file for its owner only",
                taken());
    }

    private static String option(OldSetting setting) {
        return setting.key().replaceFirst("^(auth|plugin)_opt_", "");
    }

    /** Whether options are those of this plugin: they name its backends. */
    static boolean owns(List<OldSetting> settings) {
        return settings.stream().anyMatch(setting -> option(setting).equals("backends"));
    }

    /**
     * Writes the chain.
     *
     * @param settings all options
     */
    static void map(Draft draft, List<OldSetting> settings) {
        new GoAuth(draft, settings).run(settings);
    }

    private void run(List<OldSetting> settings) {
        for (OldSetting setting : settings) {
            String name = option(setting);
            Rule<GoAuth> rule = RULES.find(name.endsWith("_register") ? "auth_opt_*_register" : "auth_opt_" + name);
            if (rule == null) {
                continue; // the last rule is for all options
            }
            rule.action().accept(this, setting);
            if (rule.outcome() != Outcome.SAME) {
                draft.note(
                        setting, rule.outcome(), (rule.target().isEmpty() ? "" : rule.target() + ": ") + rule.advice());
            }
        }
        chain(options.get("backends"));
    }

    private void chain(@Nullable OldSetting from) {
        if (from == null) {
            return;
        }
        List<String> chain = new ArrayList<>();
        List<String> left = new ArrayList<>();
        boolean decidesTopics = false;
        for (String backend : backends) {
            if (decidesNothing(backend)) {
                left.add(backend);
                continue;
            }
            switch (backend) {
                case "files" -> {
                    draft.passwordFile(from);
                    chain.add(PASSWORD_FILE);
                }
                case "http" -> {
                    http(from);
                    chain.add("http");
                    decidesTopics |= decides(backend, "aclcheck-uri");
                }
                case "jwt" -> {
                    if (jwt(from)) {
                        chain.add("jwt");
                    } else {
                        left.add(backend);
                    }
                }
                case "postgres", "mysql" -> {
                    boolean usable = sql(from, backend);
                    (usable ? chain : left).add(backend);
                    decidesTopics |= usable && decides(backend, "aclquery");
                }
                case "redis" -> {
                    boolean usable = redis(from);
                    (usable ? chain : left).add(backend);
                    decidesTopics |= usable && isRegistered(backend, "acl");
                }
                case "ldap" -> (ldap(from) ? chain : left).add(backend);
                default -> left.add(backend);
            }
        }
        if (!left.isEmpty()) {
            draft.note(
                    from,
                    Outcome.NONE,
                    "left out: " + String.join(", ", left) + "; clients that only they know are refused");
        }
        if (chain.stream().anyMatch(name -> !name.equals(PASSWORD_FILE))) {
            draft.set("access.chain", String.join(",", chain.stream().distinct().toList()), from);
        }
        if (!decidesTopics && !draft.has("access.acl-file")) {
            draft.rule("# the plugin decided; without rules everything is denied");
        }
    }

    /** Whether a backend decides about topics, for which it has a key. */
    private boolean decides(String backend, String key) {
        return isRegistered(backend, "acl") && draft.has("access.backends." + backend + "." + key);
    }

    private boolean isRegistered(String backend, String check) {
        OldSetting register = options.get(backend + "_register");
        return register == null || words(register.value()).contains(check);
    }

    /** Whether a backend is registered for neither users nor topics; it is left out, since one without checks would have all. */
    private boolean decidesNothing(String backend) {
        OldSetting register = options.get(backend + "_register");
        if (register == null
                || !List.of("http", "jwt", "postgres", "mysql", "redis").contains(backend)) {
            return false;
        }
        List<String> checks = words(register.value());
        if (checks.contains("user") || checks.contains("acl")) {
            return false;
        }
        String prefix = "access.backends." + backend + ".";
        draft.dropBelow(prefix);
        draft.dropPrivate(prefix + "secret-file");
        draft.dropPrivate(prefix + "password-file");
        draft.note(
                register,
                Outcome.NONE,
                prefix + "checks: it decides about superusers only, who are not asked for alone");
        return true;
    }

    private void http(OldSetting from) {
        draft.set(HTTP + "type", "http", from);
        draft.set(HTTP + "style", "go-auth", from);
        OldSetting host = options.getOrDefault("http_host", from);
        boolean tls = text("http_with_tls", "false").equals("true");
        String port = text("http_port", "");
        draft.set(
                HTTP + "url",
                (tls ? "https://" : "http://") + text("http_host", "127.0.0.1") + (port.isEmpty() ? "" : ":" + port),
                host);
        common("http", HTTP);
    }

    /** A database, with the statements of the plugin. */
    private boolean sql(OldSetting from, String backend) {
        boolean postgres = backend.equals("postgres");
        String theirs = postgres ? "pg_" : "mysql_";
        String prefix = "access.backends." + backend + ".";
        String address = BridgeEntry.address(
                text(theirs + "host", "localhost") + ":" + text(theirs + "port", postgres ? "5432" : "3306"), 1);
        String database = text(theirs + "dbname", "");
        boolean asks = options.containsKey(theirs + "userquery") || options.containsKey(theirs + "aclquery");
        if (address == null || !database.matches("[A-Za-z0-9_-]{1,64}") || !asks) {
            draft.note(from, Outcome.NONE, prefix + "url: needs host, port, dbname, and userquery or aclquery");
            return false;
        }
        draft.set(prefix + "type", "sql", from);
        draft.set(prefix + "style", "go-auth", from);
        OldSetting host = options.getOrDefault(theirs + "host", from);
        draft.set(
                prefix + "url",
                (postgres ? "jdbc:postgresql://" : "jdbc:mariadb://") + address + "/" + database
                        + (postgres ? tls() : ""),
                host);
        copy(theirs + "user", prefix + "username");
        for (String query : List.of("userquery", "superquery", "aclquery")) {
            if (!query.equals("superquery")
                    || !text("disable_superuser", "false").equals("true")) {
                copy(theirs + query, prefix + query);
            }
        }
        OldSetting password = options.get(theirs + "password");
        if (password != null) {
            draft.privateFile(prefix + "password-file", backend + ".password", password.value(), password);
        }
        draft.note(
                from,
                Outcome.DIFFERENT,
                prefix + "type: an extension, lib/ext/sql" + (postgres ? "" : "; put the driver of MariaDB beside it"));
        saltEncoding(theirs, prefix);
        common(backend, prefix);
        return true;
    }

    /** How the salt of a hash is written, which the hash itself does not say. */
    private void saltEncoding(String theirs, String prefix) {
        String before = options.containsKey(theirs + "hasher") ? theirs : "";
        OldSetting encoding = options.get(before + "hasher_salt_encoding");
        if (encoding != null && encoding.value().strip().equals("utf-8")) {
            draft.set(prefix + "hash.salt-encoding", "utf-8", encoding);
        }
    }

    /** Redis, whose keys are those of the plugin. */
    private boolean redis(OldSetting from) {
        boolean cluster = text("redis_mode", "").equals("cluster");
        List<String> addresses = cluster
                ? words(text("redis_cluster_addresses", ""))
                : List.of(text("redis_host", "localhost") + ":" + text("redis_port", "6379"));
        String urls = BridgeEntry.urls("redis://", addresses, 6379);
        if (urls.isEmpty()) {
            draft.note(from, Outcome.NONE, REDIS + "url: needs host and port, or addresses of a cluster");
            return false;
        }
        draft.set(REDIS + "type", "redis", from);
        draft.set(REDIS + "style", "go-auth", from);
        draft.set(REDIS + "url", urls, options.getOrDefault(cluster ? "redis_cluster_addresses" : "redis_host", from));
        if (cluster) {
            draft.set(REDIS + "mode", "cluster", options.getOrDefault("redis_mode", from));
        }
        OldSetting database = options.get("redis_db");
        if (!cluster && database != null) {
            draft.set(REDIS + "database", String.valueOf(Math.max(0, draft.number(database))), database);
        }
        OldSetting password = options.get("redis_password");
        if (password != null) {
            draft.privateFile(REDIS + "password-file", "redis.password", password.value(), password);
        }
        for (String option : List.of("disable_superuser", "redis_disable_superuser")) {
            OldSetting disabled = options.get(option);
            if (disabled != null && disabled.value().strip().equals("true")) {
                draft.set(REDIS + "superusers", "false", disabled);
            }
        }
        OldSetting register = options.get("redis_register");
        if (register != null && !isRegistered("redis", "superuser")) {
            draft.set(REDIS + "superusers", "false", register);
        }
        draft.note(from, Outcome.DIFFERENT, REDIS + "type: an extension, lib/ext/redis");
        saltEncoding("redis_", REDIS);
        common("redis", REDIS);
        return true;
    }

    /** A directory, for users only. */
    private boolean ldap(OldSetting from) {
        GoAuthLdap directory = new GoAuthLdap(draft, options);
        if (!isRegistered("ldap", "user") || !directory.write(from)) {
            return false;
        }
        common("ldap", GoAuthLdap.PREFIX);
        directory.onlyUsers(options.getOrDefault("ldap_register", from));
        return true;
    }

    private String tls() {
        String mode = text("pg_sslmode", "");
        OldSetting authority = options.get("pg_sslrootcert");
        boolean known =
                List.of("disable", "require", "verify-ca", "verify-full").contains(mode);
        return (known ? "?sslmode=" + mode : "")
                + (known && authority != null ? "&sslrootcert=" + draft.path(authority) : "");
    }

    private void copy(String theirs, String ours) {
        OldSetting setting = options.get(theirs);
        if (setting != null) {
            draft.set(ours, setting.value(), setting);
        }
    }

    /** A token with a secret; the modes that also ask a server or a database, or a script, are not known here. */
    private boolean jwt(OldSetting from) {
        OldSetting secret = options.get("jwt_secret");
        String mode = text("jwt_mode", "");
        boolean usable = secret != null
                && secret.value().getBytes(StandardCharsets.UTF_8).length >= SECRET_BYTES
                && mode.equals("files");
        if (!usable) {
            draft.dropBelow(JWT);
            draft.dropPrivate(JWT + "secret-file");
            draft.note(
                    from,
                    Outcome.NONE,
                    "access.backends.jwt: needs jwt_mode files, and jwt_secret of at least 32 bytes");
            return false;
        }
        draft.set(JWT + "type", "jwt", from);
        draft.set(JWT + "from", "username", from);
        common("jwt", JWT);
        return true;
    }

    /** The keys that all backends have. */
    private void common(String backend, String prefix) {
        OldSetting register = options.get(backend + "_register");
        if (register != null) {
            List<String> checks = words(register.value());
            List<String> ours = new ArrayList<>();
            if (checks.contains("user")) {
                ours.add("user");
            }
            if (checks.contains("acl")) {
                ours.add("acl");
            }
            if (!checks.contains("superuser")) {
                draft.drop(prefix + "superuser-uri");
                draft.drop(prefix + "superquery");
            }
            draft.set(prefix + "checks", String.join(",", ours), register);
        }
        OldSetting prefixes = options.get("prefixes");
        int place = backends.indexOf(backend);
        if (prefixes != null
                && text("check_prefix", "false").equals("true")
                && place < words(prefixes.value()).size()) {
            draft.set(prefix + "user-prefix", words(prefixes.value()).get(place) + "_", prefixes);
        }
        ttl(prefix);
    }

    private void ttl(String prefix) {
        OldSetting user = options.get("auth_cache_seconds");
        OldSetting acl = options.get("acl_cache_seconds");
        OldSetting cache = options.get("cache");
        if (cache != null && !draft.bool(cache)) {
            draft.set(prefix + "cache-ttl", "0s", cache);
            return;
        }
        long most = 86_400;
        long first = user == null ? most : draft.number(user);
        long second = acl == null ? most : draft.number(acl);
        OldSetting shorter = first <= second ? user : acl;
        if (shorter != null) {
            draft.set(prefix + "cache-ttl", Math.max(0, Math.min(first, second)) + "s", shorter);
        }
    }

    private static BiConsumer<GoAuth, OldSetting> uri(String key) {
        return (auth, setting) -> auth.uri(key, setting);
    }

    private void uri(String key, OldSetting setting) {
        if (backends.contains("http") && !setting.value().isBlank()) {
            String path = setting.value().strip();
            draft.set(HTTP + key, path.startsWith("/") ? path : "/" + path, setting);
        }
    }

    private void superuser(OldSetting setting) {
        if (!text("disable_superuser", "false").equals("true")) {
            uri("superuser-uri", setting);
        }
    }

    private void mode(OldSetting setting) {
        String key = option(setting).substring("http_".length()).replace('_', '-');
        String value = setting.value().strip().toLowerCase(Locale.ROOT);
        List<String> known = key.equals("params-mode") ? List.of("json", "form") : List.of("status", "json", "text");
        if (!known.contains(value)) {
            draft.problem(setting, "must be one of " + String.join(", ", known));
        } else if (backends.contains("http")) {
            draft.set(HTTP + key, value, setting);
        }
    }

    private void timeout(OldSetting setting) {
        long seconds = draft.number(setting);
        if (backends.contains("http")) {
            draft.set(HTTP + "timeout", Math.max(1, Math.min(60, seconds)) + "s", setting);
        }
    }

    private void verify(OldSetting setting) {
        if (!draft.bool(setting)) {
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    HTTP + "ca: the certificate of the server is checked, if it has one; name its authority");
        }
    }

    private void method(OldSetting setting) {
        if (!setting.value().strip().equalsIgnoreCase("post")) {
            draft.note(setting, Outcome.DIFFERENT, "requests are always POST");
        }
    }

    private void secret(OldSetting setting) {
        if (backends.contains("jwt")) {
            draft.privateFile(JWT + "secret-file", "jwt.secret", setting.value(), setting);
        }
    }

    private void aclFile(OldSetting setting) {
        draft.set("access.acl-file", draft.path(setting), setting);
    }

    private String text(String option, String absent) {
        OldSetting setting = options.get(option);
        return setting == null ? absent : setting.value().strip();
    }

    private static List<String> words(String text) {
        return Stream.of(text.split(","))
                .map(String::strip)
                .filter(word -> !word.isEmpty())
                .toList();
    }
}
