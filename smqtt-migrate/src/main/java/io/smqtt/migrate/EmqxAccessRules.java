// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.EmqxRules.taken;
import static io.smqtt.migrate.EmqxValue.count;
import static io.smqtt.migrate.EmqxValue.duration;
import static io.smqtt.migrate.EmqxValue.flag;
import static io.smqtt.migrate.EmqxValue.text;
import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;
import static io.smqtt.migrate.Rule.unguarded;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;

/** The keys of authentication and authorization in emqx.conf, with the type of an entry in place of its number. */
final class EmqxAccessRules {

    private static final String AUTHN = "authentication.";
    private static final String AUTHZ = "authorization.";
    private static final String BACKEND = "access.backends.<name>.";
    private static final String POOL = "connections are kept and opened as needed; max-concurrent limits requests";
    private static final String CLIENT_CERTIFICATE = "the broker has no certificate of its own towards the server";
    private static final String HASHES =
            "the users of the built-in database cannot be read: write them to access.password-file with bin/smqtt passwd";
    private static final String PRIVATE_FILE = "written to a file for its owner only";
    private static final String ALWAYS =
            "the backend is asked about all clients; user-prefix limits it to names that begin so";

    private EmqxAccessRules() {}

    static List<Rule<EmqxMapper>> all() {
        List<Rule<EmqxMapper>> all = new ArrayList<>();
        all.add(same("authentication", "access.chain", taken()));
        all.addAll(http(AUTHN + "http.", ""));
        all.addAll(jwt(AUTHN + "jwt."));
        all.addAll(ldap(AUTHN + "ldap."));
        for (String database : List.of("postgresql", "mysql")) {
            all.addAll(sql(AUTHN + database + ".", "query"));
        }
        all.addAll(redis(AUTHN + "redis.", "cmd"));
        all.addAll(List.of(
                same(AUTHN + "built_in_database.mechanism", "access.password-file", taken()),
                same(AUTHN + "built_in_database.backend", "access.password-file", taken()),
                same(AUTHN + "built_in_database.enable", "access.password-file", taken()),
                none(AUTHN + "built_in_database.*", HASHES),
                same(AUTHN + "scram.mechanism", "access.password-file", taken()),
                same(AUTHN + "scram.backend", "access.password-file", taken()),
                same(AUTHN + "scram.enable", "access.password-file", taken()),
                none(AUTHN + "scram.*", HASHES + ", for SCRAM-SHA-256"),
                none(AUTHN + "*", "there is no such backend; clients that only it knows are refused"),
                none("authentication_cache.*", "access.backends.<name>.cache-ttl, .refused-cache-ttl"),
                none("authentication_settings.*", "access.backends.<name>.cache-ttl, .refused-cache-ttl"),
                same(AUTHZ + "sources", "access.chain", taken()),
                same(AUTHZ + "no_match", "access.acl-file", taken()),
                new Rule<>(
                        AUTHZ + "deny_action",
                        Outcome.SAME,
                        "",
                        "disconnect: the client is told of the refusal and stays connected",
                        EmqxMapper::denyAction),
                same(AUTHZ + "cache.enable", BACKEND + "cache-ttl", taken()),
                same(AUTHZ + "cache.ttl", BACKEND + "cache-ttl", taken()),
                none(AUTHZ + "cache.*", "access.backends.<name>.cache-entries, .cache-bytes"),
                none(AUTHZ + "node_cache.*", "access.backends.<name>.cache-entries, .cache-bytes"),
                same(AUTHZ + "file.type", "access.acl-file", taken()),
                same(AUTHZ + "file.enable", "access.acl-file", taken()),
                differs(
                        AUTHZ + "file.path",
                        "access.acl-file",
                        "the rules are rewritten: a denying rule always wins, whatever its place; rules for client identifiers, regular "
                                + "expressions, QoS and retain are reported",
                        taken()),
                differs(
                        AUTHZ + "file.rules",
                        "access.acl-file",
                        "the rules are rewritten: a denying rule always wins, whatever its place",
                        taken())));
        all.addAll(http(AUTHZ + "http.", "acl."));
        all.addAll(ldap(AUTHZ + "ldap."));
        for (String database : List.of("postgresql", "mysql")) {
            all.addAll(sql(AUTHZ + database + ".", "acl-query"));
        }
        all.addAll(redis(AUTHZ + "redis.", "acl.cmd"));
        all.add(none(AUTHZ + "*", "there is no such backend"));
        return all;
    }

    /** Requests to an HTTP server, about clients or about topics. */
    private static List<Rule<EmqxMapper>> http(String theirs, String ours) {
        return overTls(
                theirs,
                ours + "url",
                List.of(
                        same(theirs + (ours.isEmpty() ? "mechanism" : "type"), "access.chain", taken()),
                        same(theirs + "enable", "access.chain", taken()),
                        same(theirs + "backend", BACKEND + "type", taken()),
                        same(theirs + "url", BACKEND + ours + "url", backend(ours + "url", text())),
                        same(theirs + "method", BACKEND + ours + "method", backend(ours + "method", text())),
                        new Rule<>(
                                theirs + "headers.*",
                                Outcome.SAME,
                                BACKEND + ours + "headers",
                                "a header that may hold a secret is not written; set it by the environment",
                                (mapper, setting) -> mapper.access().header(setting, ours)),
                        same(
                                theirs + "body.*",
                                BACKEND + ours + "body",
                                (mapper, setting) -> mapper.access().field(setting, ours)),
                        same(
                                theirs + "request_timeout",
                                BACKEND + "timeout",
                                backend("timeout", duration(1_000, 10, 60_000))),
                        same(
                                theirs + "pool_size",
                                BACKEND + "max-concurrent",
                                backend("max-concurrent", count(1, 1_024))),
                        none(theirs + "connect_timeout", POOL),
                        none(theirs + "max_inactive", POOL),
                        none(theirs + "enable_pipelining", POOL),
                        none(theirs + "retry_interval", POOL),
                        none(theirs + "max_retries", POOL),
                        unguarded(theirs + "precondition", ALWAYS)));
    }

    private static List<Rule<EmqxMapper>> jwt(String theirs) {
        return overTls(
                theirs,
                "endpoint",
                List.of(
                        same(theirs + "mechanism", "access.chain", taken()),
                        same(theirs + "enable", "access.chain", taken()),
                        same(theirs + "from", BACKEND + "from", backend("from", text())),
                        new Rule<>(
                                theirs + "algorithm",
                                Outcome.SAME,
                                BACKEND + "algorithms",
                                "the kind of the key says it",
                                taken()),
                        same(theirs + "use_jwks", BACKEND + "endpoint", taken()),
                        new Rule<>(
                                theirs + "secret",
                                Outcome.SAME,
                                BACKEND + "secret-file",
                                "written to a file for its owner only; at least 32 bytes",
                                (mapper, setting) -> mapper.access().secret(setting)),
                        same(
                                theirs + "secret_base64_encoded",
                                BACKEND + "secret-base64",
                                backend("secret-base64", flag())),
                        same(
                                theirs + "public_key",
                                BACKEND + "public-key",
                                (mapper, setting) -> mapper.access().publicKey(setting)),
                        same(theirs + "endpoint", BACKEND + "endpoint", backend("endpoint", text())),
                        same(
                                theirs + "refresh_interval",
                                BACKEND + "refresh-interval",
                                backend("refresh-interval", duration(1_000, 1_000, EmqxRules.day()))),
                        same(
                                theirs + "verify_claims*",
                                BACKEND + "verify-claims",
                                (mapper, setting) -> mapper.access().claim(setting)),
                        same(theirs + "acl_claim_name", BACKEND + "acl-claim", backend("acl-claim", text())),
                        same(
                                theirs + "disconnect_after_expire",
                                BACKEND + "disconnect-after-expire",
                                backend("disconnect-after-expire", flag())),
                        none(theirs + "pool_size", "keys are fetched by one request"),
                        none(theirs + "headers.*", "the request for the keys has no further headers"),
                        unguarded(theirs + "precondition", ALWAYS)));
    }

    /** A database; the backend is an extension. */
    private static List<Rule<EmqxMapper>> sql(String theirs, String query) {
        List<Rule<EmqxMapper>> rules = new ArrayList<>(List.of(
                same(theirs + (theirs.startsWith(AUTHN) ? "mechanism" : "type"), "access.chain", taken()),
                same(theirs + "enable", "access.chain", taken()),
                new Rule<>(
                        theirs + "backend",
                        Outcome.SAME,
                        BACKEND + "type",
                        "`sql`, an extension; MariaDB and MySQL need their driver beside it",
                        taken()),
                same(
                        theirs + "server",
                        BACKEND + "url",
                        (mapper, setting) -> mapper.access().database(setting)),
                same(theirs + "database", BACKEND + "url", taken()),
                same(theirs + "username", BACKEND + "username", backend("username", text())),
                new Rule<>(
                        theirs + "password",
                        Outcome.SAME,
                        BACKEND + "password-file",
                        PRIVATE_FILE,
                        (mapper, setting) -> mapper.access().password(setting, "password-file")),
                new Rule<>(
                        theirs + "query",
                        Outcome.SAME,
                        BACKEND + query,
                        "placeholders become bind parameters, without quotes",
                        backend(query, EmqxBackendCheck::statement)),
                unguarded(theirs + "precondition", ALWAYS),
                same(theirs + "query_timeout", BACKEND + "timeout", backend("timeout", duration(1_000, 10, 60_000))),
                same(theirs + "pool_size", BACKEND + "max-concurrent", backend("max-concurrent", count(1, 1_024))),
                same(theirs + "ssl.enable", BACKEND + "url", taken()),
                same(theirs + "ssl.cacertfile", BACKEND + "url", taken()),
                same(theirs + "ssl.verify", BACKEND + "url", taken()),
                none(theirs + "ssl.*", "set the properties of the driver in url"),
                none(theirs + "*", "not configurable")));
        rules.addAll(hashes(theirs));
        return rules;
    }

    /** How the passwords of users are stored. */
    private static List<Rule<EmqxMapper>> hashes(String theirs) {
        List<Rule<EmqxMapper>> rules = new ArrayList<>();
        if (theirs.startsWith(AUTHN)) {
            for (String key : List.of("name", "salt_position", "mac_fun", "iterations", "dk_length")) {
                String ours = "hash." + key.replace('_', '-');
                rules.add(same(
                        theirs + "password_hash_algorithm." + key,
                        BACKEND + ours,
                        (mapper, setting) -> mapper.access().hash(setting, ours)));
            }
            rules.add(none(
                    theirs + "password_hash_algorithm.*", "for new passwords only, which the broker does not make"));
        }
        return rules;
    }

    /** Redis; the backend is an extension. */
    private static List<Rule<EmqxMapper>> redis(String theirs, String command) {
        List<Rule<EmqxMapper>> rules = new ArrayList<>(List.of(
                same(theirs + (theirs.startsWith(AUTHN) ? "mechanism" : "type"), "access.chain", taken()),
                same(theirs + "enable", "access.chain", taken()),
                new Rule<>(theirs + "backend", Outcome.SAME, BACKEND + "type", "`redis`, an extension", taken()),
                same(theirs + "redis_type", BACKEND + "mode", backend("mode", lowerCase())),
                same(
                        theirs + "server",
                        BACKEND + "url",
                        (mapper, setting) -> mapper.access().redis(setting)),
                same(
                        theirs + "servers",
                        BACKEND + "url",
                        (mapper, setting) -> mapper.access().redis(setting)),
                same(theirs + "sentinel", BACKEND + "sentinel-master", backend("sentinel-master", text())),
                same(
                        theirs + "sentinel_username",
                        BACKEND + "sentinel-username",
                        (mapper, setting) -> mapper.access().user(setting, "sentinel-username", "sentinel_password")),
                new Rule<>(
                        theirs + "sentinel_password",
                        Outcome.SAME,
                        BACKEND + "sentinel-password-file",
                        PRIVATE_FILE,
                        (mapper, setting) -> mapper.access().password(setting, "sentinel-password-file")),
                same(
                        theirs + "database",
                        BACKEND + "database",
                        (mapper, setting) -> mapper.access().databaseNumber(setting)),
                same(
                        theirs + "username",
                        BACKEND + "username",
                        (mapper, setting) -> mapper.access().user(setting, "username", "password")),
                new Rule<>(
                        theirs + "password",
                        Outcome.SAME,
                        BACKEND + "password-file",
                        PRIVATE_FILE,
                        (mapper, setting) -> mapper.access().password(setting, "password-file")),
                same(theirs + "cmd", BACKEND + command, backend(command, text())),
                unguarded(theirs + "precondition", ALWAYS),
                same(theirs + "pool_size", BACKEND + "max-concurrent", backend("max-concurrent", count(1, 1_024))),
                none(theirs + "auto_reconnect", POOL)));
        rules.addAll(hashes(theirs));
        return overTls(theirs, "url", rules);
    }

    private static EmqxValue lowerCase() {
        return (draft, setting) -> setting.value().strip().toLowerCase(Locale.ROOT);
    }

    /** A directory; the backend is an extension. */
    private static List<Rule<EmqxMapper>> ldap(String theirs) {
        return overTls(
                theirs,
                "url",
                List.of(
                        same(theirs + (theirs.startsWith(AUTHN) ? "mechanism" : "type"), "access.chain", taken()),
                        same(theirs + "enable", "access.chain", taken()),
                        new Rule<>(
                                theirs + "backend",
                                Outcome.SAME,
                                BACKEND + "type",
                                "an extension: put smqtt-access-ldap into lib/ext",
                                taken()),
                        same(
                                theirs + "server",
                                BACKEND + "url",
                                (mapper, setting) -> mapper.access().directory(setting)),
                        same(theirs + "username", BACKEND + "bind-dn", backend("bind-dn", text())),
                        new Rule<>(
                                theirs + "password",
                                Outcome.SAME,
                                BACKEND + "bind-password-file",
                                PRIVATE_FILE,
                                (mapper, setting) -> mapper.access().password(setting, "bind-password-file")),
                        same(theirs + "base_dn", BACKEND + "base-dn", backend("base-dn", text())),
                        same(theirs + "filter", BACKEND + "filter", backend("filter", text())),
                        same(theirs + "method.type", BACKEND + "method", backend("method", text())),
                        same(theirs + "method.bind_password", BACKEND + "method", taken()),
                        same(
                                theirs + "method.password_attribute",
                                BACKEND + "password-attribute",
                                backend("password-attribute", text())),
                        same(
                                theirs + "method.is_superuser_attribute",
                                BACKEND + "superuser-attribute",
                                backend("superuser-attribute", text())),
                        same(
                                theirs + "publish_attribute",
                                BACKEND + "publish-attribute",
                                backend("publish-attribute", text())),
                        same(
                                theirs + "subscribe_attribute",
                                BACKEND + "subscribe-attribute",
                                backend("subscribe-attribute", text())),
                        same(theirs + "all_attribute", BACKEND + "all-attribute", backend("all-attribute", text())),
                        same(
                                theirs + "acl_rule_attribute",
                                BACKEND + "rule-attribute",
                                backend("rule-attribute", text())),
                        unguarded(theirs + "precondition", ALWAYS),
                        same(
                                theirs + "query_timeout",
                                BACKEND + "timeout",
                                backend("timeout", duration(1_000, 10, 60_000))),
                        same(
                                theirs + "request_timeout",
                                BACKEND + "timeout",
                                backend("timeout", duration(1_000, 10, 60_000))),
                        same(
                                theirs + "pool_size",
                                BACKEND + "max-concurrent",
                                backend("max-concurrent", count(1, 1_024)))));
    }

    /** Rules of a client of a server, with those of its encryption, and of what is not known. */
    private static List<Rule<EmqxMapper>> overTls(String theirs, String address, List<Rule<EmqxMapper>> own) {
        List<Rule<EmqxMapper>> rules = new ArrayList<>(own);
        rules.add(same(
                theirs + "ssl.enable",
                BACKEND + address,
                (mapper, setting) -> mapper.access().encrypted(setting)));
        rules.add(same(
                theirs + "ssl.cacertfile",
                BACKEND + "ca",
                (mapper, setting) -> mapper.access().authority(setting)));
        rules.add(new Rule<>(
                theirs + "ssl.verify",
                Outcome.SAME,
                BACKEND + "ca",
                "certificates of servers are always checked",
                (mapper, setting) -> mapper.access().verify(setting)));
        rules.add(none(theirs + "ssl.*", CLIENT_CERTIFICATE + "; TLS 1.2 and 1.3"));
        rules.add(none(theirs + "*", "not configurable"));
        return rules;
    }

    private static BiConsumer<EmqxMapper, OldSetting> backend(String key, EmqxValue value) {
        return (mapper, setting) -> mapper.access().set(setting, key, value);
    }
}
