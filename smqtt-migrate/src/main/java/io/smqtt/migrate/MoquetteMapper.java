// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** moquette.conf, of the versions up to 0.18. */
final class MoquetteMapper {

    private static final String KEY_STORE =
            "convert the key store to PEM files: keytool -importkeystore -deststoretype pkcs12, then "
                    + "openssl pkcs12 -nodes; until listeners.tls.tls.certificate and .key name them, the listener is left out";
    private static final String NO_CLASS =
            "clients need a user in access.password-file; when embedded, use an Authenticator, Authorizer, "
                    + "BrokerObserver or PublishInterceptor";
    private static final String NO_SOCKET_OPTION = "socket options are not configurable; TCP_NODELAY is on";
    private static final String METRICS = "/metrics of the management port, for Prometheus";
    private static final String STORED = "its files are not read; acknowledged messages are stored at once";

    /** Keys that mosquitto does not have: they distinguish the two formats. */
    private static final Set<String> OWN = Set.of(
            "host",
            "websocket_port",
            "websocket_path",
            "secure_websocket_port",
            "ssl_port",
            "jks_path",
            "data_path",
            "persistence_enabled",
            "persistent_queue_type",
            "persistent_store",
            "telemetry_enabled",
            "authenticator_class",
            "authorizator_class");

    static final RuleTable<MoquetteMapper> RULES = new RuleTable<>(List.<Rule<MoquetteMapper>>of(
            same("port", "listeners.tcp.port", port("tcp", false)),
            same("host", "listeners.<name>.host", MoquetteMapper::keep),
            same("websocket_port", "listeners.ws.port", port("ws", false)),
            same("websocket_path", "listeners.ws.path", MoquetteMapper::keep),
            differs("ssl_port", "listeners.tls.port", KEY_STORE, port("tls", true)),
            differs("secure_websocket_port", "listeners.wss.port", KEY_STORE, port("wss", true)),
            none("ssl_provider", "the JDK's implementation is used"),
            none("jks_path", KEY_STORE),
            none("key_store_*", KEY_STORE),
            none("key_manager_password", KEY_STORE),
            none(
                    "need_client_auth",
                    "set listeners.tls.tls.client-ca and .client-auth: required, after the PEM files exist"),
            none("peer_certificate_as_username", "set listeners.tls.tls.user-name to the common name or the subject"),
            same("allow_anonymous", "access.allow-anonymous", MoquetteMapper::keep),
            differs(
                    "password_file",
                    "access.password-file",
                    "its SHA-256 hashes are not read: run bin/smqtt passwd for each user; until then no user can log in by password",
                    MoquetteMapper::keep),
            differs(
                    "acl_file",
                    "access.acl-file",
                    "the same syntax; a rule before the first user applies to all clients and becomes a pattern; rules in which a # or "
                            + "deny keeps Moquette from granting something are reported",
                    MoquetteMapper::keep),
            new Rule<>("authenticator_class", Outcome.NONE, "", NO_CLASS, MoquetteMapper::keep),
            new Rule<>("authorizator_class", Outcome.NONE, "", NO_CLASS, MoquetteMapper::keep),
            none("authenticator.db.*", NO_CLASS),
            none("intercept.*", NO_CLASS),
            none(
                    "reauthorize_subscriptions_on_connect",
                    "rules are checked again when they change, and at each delivery"),
            none("allow_zero_byte_client_id", "an empty client identifier is handled as the standard requires"),
            differs("persistence_enabled", "storage.kind", STORED, MoquetteMapper::persistence),
            none("data_path", "storage.dir is the directory data beside the configuration; " + STORED),
            none("persistent_store", "storage.dir is the directory data beside the configuration; " + STORED),
            none("persistent_queue_type", STORED),
            none("autosave_interval", STORED),
            none("storage_class*", STORED),
            none("storage_type_global", STORED),
            same(
                    "persistent_client_expiration",
                    "session.max-expiry, session.default-expiry",
                    MoquetteMapper::expiration),
            same("netty.mqtt.message_size", "limits.max-packet-bytes", set("limits.max-packet-bytes", "")),
            same("netty.so_backlog", "listeners.tcp.backlog", set("listeners.tcp.backlog", "")),
            same("netty.epoll", "native-transport", set("native-transport", "")),
            none("netty.channel_timeout.seconds", "listeners.<name>.connect-timeout limits the time until CONNECT"),
            none("netty.*", NO_SOCKET_OPTION),
            none("buffer_flush_millis", "writes are flushed once per iteration of the event loop"),
            none("immediate_buffer_flush", "writes are flushed once per iteration of the event loop"),
            none(
                    "session_queue_size",
                    "command queues are not configurable; limits.max-queued-messages limits messages"),
            same("receive_maximum", "limits.receive-maximum", set("limits.receive-maximum", "")),
            same("max_server_granted_qos", "mqtt.max-qos", set("mqtt.max-qos", "")),
            same("topic_alias_maximum", "mqtt.topic-alias-maximum", set("mqtt.topic-alias-maximum", "")),
            differs(
                    "server_keep_alive",
                    "mqtt.max-keep-alive",
                    "clients that request a shorter one get it",
                    MoquetteMapper::keepAlive),
            none("use_metrics", METRICS),
            none("metrics.*", METRICS),
            none("metrics_provider_class", METRICS),
            none("use_bugsnag", "errors are logged"),
            none("bugsnag.*", "errors are logged"),
            none("telemetry_enabled", "there is no telemetry"),
            none("hazelcast.*", "use cluster.*: nodes find each other by cluster.seeds")));

    private final Draft draft;
    private final Path home;
    private final Map<String, OldSetting> kept = new HashMap<>();

    private MoquetteMapper(OldFile file) {
        draft = new Draft(file.directory());
        home = home(file.directory());
    }

    /** The base of Moquette's relative paths: the parent directory of {@code config/moquette.conf}. */
    private static Path home(Path directory) {
        Path above = directory.getParent();
        return directory.endsWith("config") && above != null ? above : directory;
    }

    static boolean owns(List<OldSetting> settings) {
        return settings.stream()
                .anyMatch(
                        setting -> OWN.contains(setting.key()) || setting.key().startsWith("netty."));
    }

    static Draft map(OldFile file) {
        return new MoquetteMapper(file).run(file);
    }

    private static BiConsumer<MoquetteMapper, OldSetting> set(String key, String unit) {
        return (mapper, setting) -> mapper.draft.set(key, setting.value() + unit, setting);
    }

    private static BiConsumer<MoquetteMapper, OldSetting> port(String listener, boolean secure) {
        return (mapper, setting) -> {
            String prefix = "listeners." + listener + ".";
            mapper.draft.drop(prefix + "port"); // the last line counts
            mapper.draft.drop(prefix + "enabled");
            if (!setting.value().equals("disabled")) {
                mapper.draft.set(prefix + "port", String.valueOf(mapper.draft.number(setting)), setting);
            } else if (!secure) {
                mapper.draft.set(prefix + "enabled", "false", setting); // or it would listen by default
            }
        };
    }

    private Draft run(OldFile file) {
        for (OldSetting setting : ConfLines.read(file)) {
            Rule<MoquetteMapper> rule = RULES.find(setting.key());
            if (rule == null) {
                draft.note(setting.unknown(), Outcome.NONE, "Moquette has no such key");
                continue;
            }
            rule.action().accept(this, setting);
            if (rule.outcome() != Outcome.SAME) {
                draft.note(
                        setting, rule.outcome(), (rule.target().isEmpty() ? "" : rule.target() + ": ") + rule.advice());
            }
        }
        listeners();
        access();
        draft.byDefault("storage.kind", "rocksdb", "Moquette's default: persistence_enabled true");
        draft.byDefault("session.max-expiry", "4294967295s", "Moquette's default: sessions do not expire");
        draft.byDefault("session.default-expiry", "4294967295s", "Moquette's default: sessions do not expire");
        return draft.finished();
    }

    private void keep(OldSetting setting) {
        kept.put(setting.key(), setting);
    }

    private @Nullable OldSetting kept(String key) {
        OldSetting setting = kept.get(key);
        return setting == null || setting.value().isEmpty() ? null : setting;
    }

    private void listeners() {
        OldSetting host = kept("host");
        OldSetting path = kept("websocket_path");
        if (draft.has("listeners.ws.port")) {
            if (path != null) {
                draft.set("listeners.ws.path", path.value().startsWith("/") ? path.value() : "/" + path.value(), path);
            }
        } else {
            draft.byDefault("listeners.ws.enabled", "false", "no websocket_port");
        }
        for (String name : List.of("tcp", "ws")) {
            if (host != null && !draft.has("listeners." + name + ".enabled")) {
                draft.set("listeners." + name + ".host", host.value(), host);
            }
        }
        for (Map.Entry<String, String> secure :
                Map.of("tls", "tcp", "wss", "ws").entrySet()) {
            String prefix = "listeners." + secure.getKey() + ".";
            if (draft.has(prefix + "port")) {
                draft.byDefault(prefix + "type", secure.getValue(), "TLS");
                draft.byDefault(prefix + "enabled", "false", "needs tls.certificate and tls.key in PEM");
            }
        }
    }

    private void access() {
        OldSetting anonymous = kept("allow_anonymous");
        boolean foreign = kept("authenticator_class") != null;
        boolean open = !foreign && (anonymous == null || draft.bool(anonymous));
        if (anonymous == null) {
            draft.byDefault("access.allow-anonymous", String.valueOf(open), "Moquette's default");
        } else {
            draft.set("access.allow-anonymous", String.valueOf(open), anonymous);
        }
        OldSetting acl = kept("acl_file"); // the last line counts
        if (acl != null) {
            acl(acl);
        }
        OldSetting authorizer = kept("authorizator_class");
        if (authorizer != null && acl != null) {
            draft.note(
                    authorizer,
                    Outcome.UNGUARDED,
                    "access.acl-file: actions that the class refused are allowed now if the rules of acl_file allow them");
        } else if (authorizer != null) {
            draft.rule("# " + "a class decided; without rules everything is denied");
        }
    }

    private void acl(OldSetting setting) {
        String path = draft.path(setting, home);
        if (!Files.isRegularFile(Path.of(path)) || !rules(OldFile.read(Path.of(path), setting.value()))) {
            draft.set("access.acl-file", path, setting);
        }
    }

    /** Rewrites the rules if this broker would read them differently; reports rules that grant more here. */
    private boolean rules(OldFile file) {
        List<String> lines = file.text().lines().map(String::strip).toList();
        int users = lines.size();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.matches("user\\s.*")) {
                users = Math.min(users, i);
            }
            if (line.indexOf('#') > 0) {
                draft.note(
                        file.where(i + 1),
                        Outcome.UNGUARDED,
                        "Moquette treats a # at the end of a rule as a comment, so it granted only the part before it");
            } else if (line.matches("(topic|pattern)\\s+deny\\s.*")) {
                draft.note(
                        file.where(i + 1),
                        Outcome.UNGUARDED,
                        "Moquette has no denying rules; with one in the file it grants nothing");
            }
        }
        List<String> forAll = lines.subList(0, users);
        if (forAll.stream().noneMatch(line -> line.matches("topic\\s.*"))) {
            return false;
        }
        // In Moquette a rule before the first user applies to all clients; here it applies to clients without a user
        // name.
        forAll.forEach(line -> draft.rule(line.replaceFirst("^topic(?=\\s)", "pattern")));
        lines.subList(users, lines.size()).forEach(draft::rule);
        return true;
    }

    private void persistence(OldSetting setting) {
        draft.set("storage.kind", draft.bool(setting) ? "rocksdb" : "memory", setting);
    }

    private void keepAlive(OldSetting setting) {
        draft.set("mqtt.max-keep-alive", draft.number(setting) + "s", setting);
    }

    /** A number and s, m (minutes), h, d, w, M (months) or y. */
    private void expiration(OldSetting setting) {
        String text = setting.value().strip();
        int last = text.length() - 1;
        long seconds = last < 1
                ? 0
                : switch (text.charAt(last)) {
                    case 's' -> 1;
                    case 'm' -> 60;
                    case 'h' -> 3_600;
                    case 'd' -> 86_400;
                    case 'w' -> 604_800;
                    case 'M' -> 2_592_000;
                    case 'y' -> 31_536_000;
                    default -> 0;
                };
        if (seconds == 0) {
            draft.problem(setting, "must be a number and one of s, m, h, d, w, M, y");
            return;
        }
        long number = draft.number(new OldSetting(setting.key(), text.substring(0, last), setting.where()));
        String ours = Math.min(4_294_967_295L, number * seconds) + "s";
        draft.set("session.max-expiry", ours, setting);
        draft.set("session.default-expiry", ours, setting);
    }
}
