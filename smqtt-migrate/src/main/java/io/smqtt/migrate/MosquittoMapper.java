// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;
import static io.smqtt.migrate.Rule.unguarded;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * mosquitto.conf of version 2. The meaning of a key depends on earlier lines: it belongs to the last listener or bridge. In this broker
 * access rules apply to all listeners. If per_listener_settings makes them different, the stricter one is used; if that is not clear, the
 * file is refused.
 */
final class MosquittoMapper {

    private static final int MAX_FILES = 100;
    private static final int LARGEST_PACKET = 268_435_455;
    private static final String NEVER = "4294967295s";
    private static final String LOG =
            "the log goes to standard error: use journald, or redirect it to a file; logging.format: json";
    private static final String NO_PLUGIN = "clients need a user in access.password-file and rules in access.acl-file; "
            + "when embedded, use an Authenticator and an Authorizer";
    private static final String NO_PREFIX = "assigned identifiers have no prefix";
    private static final String NO_PSK =
            "pre-shared keys are not supported: the listener is left out; give it a certificate";
    private static final String NO_CIPHERS = "not configurable: TLS 1.2 and 1.3 with forward secrecy";
    /** Parts of the names of keys that may control access. */
    private static final List<String> GUARDS = List.of(
            "access",
            "acl",
            "addr",
            "allow",
            "anonym",
            "auth",
            "ban",
            "bind",
            "block",
            "cert",
            "clientid",
            "crl",
            "deny",
            "disable",
            "forbid",
            "host",
            "interface",
            "key",
            "listen",
            "mount",
            "only",
            "origin",
            "pass",
            "permi",
            "plugin",
            "port",
            "prefix",
            "proto",
            "proxy",
            "psk",
            "require",
            "restrict",
            "role",
            "secur",
            "ssl",
            "tls",
            "trust",
            "user",
            "verify");

    private static final String STORED = "mosquitto.db is not read; acknowledged messages are stored at once";

    static final RuleTable<MosquittoMapper> RULES = RuleTable.of(
            List.<Rule<MosquittoMapper>>of(
                    same("listener", "listeners.<name>.port, .host", MosquittoMapper::listener),
                    same("port", "listeners.tcp.port", MosquittoMapper::port),
                    same("bind_address", "listeners.<name>.host", MosquittoMapper::keep),
                    same("protocol", "listeners.<name>.type", MosquittoMapper::protocol),
                    same("max_connections", "listeners.<name>.max-connections", MosquittoMapper::keep),
                    same("certfile", "listeners.<name>.tls.certificate", MosquittoMapper::keep),
                    same("keyfile", "listeners.<name>.tls.key", MosquittoMapper::keep),
                    same("cafile", "listeners.<name>.tls.client-ca", MosquittoMapper::keep),
                    differs(
                            "capath",
                            "listeners.<name>.tls.client-ca",
                            "needs one file: concatenate the certificates of the directory",
                            MosquittoMapper::keep),
                    same("require_certificate", "listeners.<name>.tls.client-auth: required", MosquittoMapper::keep),
                    same("use_identity_as_username", "listeners.<name>.tls.user-name: cn", MosquittoMapper::keep),
                    same("use_subject_as_username", "listeners.<name>.tls.user-name: dn", MosquittoMapper::keep),
                    unguarded(
                            "crlfile",
                            "revocation is not checked; replace the authority, or use short-lived certificates"),
                    none("ciphers", NO_CIPHERS),
                    none("ciphers_tls1.3", NO_CIPHERS),
                    none("tls_version", NO_CIPHERS),
                    none("dhparamfile", NO_CIPHERS),
                    none("tls_engine*", "keys are read from PEM files"),
                    none("tls_keyform", "keys are read from PEM files"),
                    new Rule<>("psk_hint", Outcome.NONE, "", NO_PSK, MosquittoMapper::keep),
                    new Rule<>("psk_file", Outcome.NONE, "", NO_PSK, MosquittoMapper::keep),
                    unguarded(
                            "mount_point",
                            "all listeners share the same topics; separate the clients by access.acl-file"),
                    none("socket_domain", "the host determines IPv4 or IPv6"),
                    differs(
                            "bind_interface",
                            "listeners.<name>.host",
                            "needs the address of the interface after the port of listener; in mosquitto the interface has priority over "
                                    + "an address",
                            MosquittoMapper::keep),
                    none("http_dir", "use a web server for files; listeners.<name>.path is the path of the WebSocket"),
                    none("websockets_log_level", LOG),
                    none("websockets_headers_size", "the limit is fixed"),
                    none("packet_buffer_size", "buffers grow with the packets, up to limits.max-packet-bytes"),
                    same("websockets_origin", "listeners.<name>.allowed-origins", MosquittoMapper::keep),
                    differs(
                            "enable_proxy_protocol",
                            "listeners.<name>.proxy-protocol",
                            "set listeners.<name>.trusted-proxies to the networks of the proxies; it has only the loopback address now",
                            MosquittoMapper::keep),
                    unguarded(
                            "proxy_protocol_v2_require_tls",
                            "the broker does not check whether clients used TLS to the proxy; configure the proxy to require it"),
                    none("disable_client_cert_date_checks", "expired client certificates are always refused"),
                    unguarded("accept_protocol_versions", "MQTT 3.1, 3.1.1 and 5.0 are served on every listener"),
                    unguarded(
                            "use_username_as_clientid",
                            "clients keep the identifier that they send; session.bind-to-user binds a "
                                    + "session to its user"),
                    none(
                            "allow_zero_length_clientid",
                            "an empty client identifier is handled as the standard requires"),
                    none("auto_id_prefix", NO_PREFIX),
                    none("listener_auto_id_prefix", NO_PREFIX),
                    unguarded("clientid_prefixes", "client identifiers are not restricted; use %c in access.acl-file"),
                    differs(
                            "per_listener_settings",
                            "access.*",
                            "access rules apply to all listeners, the stricter ones; for different rules run two brokers",
                            MosquittoMapper::keepGlobal),
                    same("allow_anonymous", "access.allow-anonymous", MosquittoMapper::access),
                    differs(
                            "listener_allow_anonymous",
                            "access.allow-anonymous",
                            "applies to all listeners: clients without a user are accepted only if every listener accepts them",
                            MosquittoMapper::anonymousOfListener),
                    same("password_file", "access.password-file", MosquittoMapper::access),
                    differs(
                            "acl_file",
                            "access.acl-file",
                            "the same file; a denying rule always wins, and $share/name/filter is checked as filter",
                            MosquittoMapper::access),
                    plugged("plugin"),
                    plugged("auth_plugin"),
                    plugged("global_plugin"),
                    plugged("plugin_load"),
                    plugged("plugin_use"),
                    plugged("plugin_*"),
                    plugged("auth_*"),
                    differs(
                            "persistence",
                            "storage.kind",
                            "storage.dir is the directory data beside the configuration; " + STORED,
                            MosquittoMapper::persistence),
                    differs(
                            "retained_persistence",
                            "storage.kind",
                            "the former name of persistence; " + STORED,
                            MosquittoMapper::persistence),
                    none("persistence_location", "set storage.dir to a new directory; " + STORED),
                    none("persistence_file", STORED),
                    none("autosave_interval", STORED),
                    none("autosave_on_changes", STORED),
                    same(
                            "persistent_client_expiration",
                            "session.max-expiry, session.default-expiry",
                            MosquittoMapper::expiration),
                    same(
                            "queue_qos0_messages",
                            "session.queue-qos0, bridges.<name>.queue-qos0",
                            MosquittoMapper::queuesQos0),
                    same("max_inflight_messages", "limits.max-in-flight", number("limits.max-in-flight", 65_535)),
                    none("max_inflight_bytes", "limits.max-total-queued-bytes includes messages in flight"),
                    same(
                            "max_queued_messages",
                            "limits.max-queued-messages, bridges.<name>.max-queued-messages",
                            MosquittoMapper::queued),
                    same("max_queued_bytes", "limits.max-queued-bytes", number("limits.max-queued-bytes", 1L << 40)),
                    same(
                            "max_packet_size",
                            "limits.max-packet-bytes",
                            number("limits.max-packet-bytes", LARGEST_PACKET)),
                    differs(
                            "message_size_limit",
                            "limits.max-packet-bytes",
                            "applies to the whole packet, not to the payload alone",
                            MosquittoMapper::messageSize),
                    none(
                            "memory_limit",
                            "the heap is the limit; queues and retained messages have limits as shares of it"),
                    same("max_keepalive", "mqtt.max-keep-alive", seconds("mqtt.max-keep-alive")),
                    same("max_qos", "mqtt.max-qos", MosquittoMapper::maxQos),
                    same("maximum_qos", "mqtt.max-qos", MosquittoMapper::maxQos),
                    same("max_topic_alias", "mqtt.topic-alias-maximum", number("mqtt.topic-alias-maximum", 65_535)),
                    same(
                            "max_topic_alias_broker",
                            "mqtt.outbound-topic-alias-maximum",
                            number("mqtt.outbound-topic-alias-maximum", 65_535)),
                    same(
                            "global_max_connections",
                            "limits.max-connections",
                            number("limits.max-connections", 100_000_000)),
                    same("global_max_clients", "limits.max-sessions", number("limits.max-sessions", 100_000_000)),
                    same("retain_available", "mqtt.retain-available", bool("mqtt.retain-available")),
                    none("retain_expiry_interval", "publish with a Message Expiry Interval"),
                    none(
                            "retry_interval",
                            "messages are sent again when the client reconnects, as the standard requires"),
                    none("check_retain_source", "a retained message stays if its publisher loses the right to publish"),
                    none(
                            "upgrade_outgoing_qos",
                            "the lower QoS of publisher and subscription applies, as the standard requires"),
                    none("allow_duplicate_messages", "a client gets a message once, however many of its filters match"),
                    none("set_tcp_nodelay", "TCP_NODELAY is on"),
                    same("sys_interval", "management.sys-interval", seconds("management.sys-interval")),
                    none("log_*", LOG),
                    none("enable_control_api", "no topics below $CONTROL; use bin/smqtt ctl and the management port"),
                    same("connection_messages", "access.log-connections", bool("access.log-connections")),
                    none("pid_file", "the process id is in the line smqtt started; systemd needs no file"),
                    none("user", "start the program as that user: User= in systemd"),
                    same("include_dir", "", (mapper, setting) -> {})),
            MosquittoBridgeRules.all());

    private final Draft draft;
    private final List<OldListener> listeners = new ArrayList<>();
    private final OldListener standard = new OldListener(new OldSetting("listener", "", "default"), 1883);
    private final Map<String, OldSetting> globals = new HashMap<>();
    private OldListener current = standard;
    private boolean standardUsed;
    private boolean remote; // a line has set the address
    private @Nullable OldSetting unixSocket;
    private @Nullable OldSetting plugin;
    private final List<OldSetting> plugins = new ArrayList<>();
    private final MosquittoBridges bridges;

    private MosquittoMapper(OldFile file) {
        draft = new Draft(file.directory());
        bridges = new MosquittoBridges(draft);
    }

    static Draft map(OldFile file) {
        return new MosquittoMapper(file).run(file);
    }

    /** If a plugin decided, everything without a rule is denied. The options of one plugin are known. */
    private static Rule<MosquittoMapper> plugged(String key) {
        return new Rule<>(
                key,
                Outcome.SAME,
                "",
                NO_PLUGIN + "; options of mosquitto-go-auth: see below",
                MosquittoMapper::plugin);
    }

    /** Adds a key to the last bridge. */
    void ofBridge(OldSetting setting) {
        bridges.put(setting);
    }

    /** Begins a bridge. */
    void connection(OldSetting setting) {
        bridges.connection(setting);
    }

    Draft draft() {
        return draft;
    }

    private static BiConsumer<MosquittoMapper, OldSetting> bool(String key) {
        return (mapper, setting) -> mapper.draft.set(key, String.valueOf(mapper.draft.bool(setting)), setting);
    }

    private static BiConsumer<MosquittoMapper, OldSetting> seconds(String key) {
        return (mapper, setting) -> mapper.draft.set(key, mapper.draft.number(setting) + "s", setting);
    }

    /** In mosquitto 0 means no limit, which becomes the maximum here. */
    private static BiConsumer<MosquittoMapper, OldSetting> number(String key, long largest) {
        return (mapper, setting) -> {
            long value = mapper.draft.number(setting);
            mapper.draft.set(key, String.valueOf(value <= 0 && !key.contains("alias") ? largest : value), setting);
        };
    }

    private Draft run(OldFile file) {
        readAll(file, true);
        if (unixSocket != null && listeners.isEmpty() && !standardUsed) {
            draft.problem(
                    unixSocket, "is a Unix socket and the only listener; Unix sockets are not supported: set a port");
        }
        if (standardUsed || !remote) {
            listeners.add(0, standard);
        }
        boolean localOnly = !remote;
        new MosquittoListeners(draft, localOnly).bind(listeners);
        decideAccess(localOnly);
        bridges.write(globals.get("max_queued_messages"), globals.get("queue_qos0_messages"));
        draft.byDefault("storage.kind", "memory", "mosquitto's default: persistence false");
        draft.byDefault("session.max-expiry", NEVER, "mosquitto's default: sessions do not expire");
        draft.byDefault("session.default-expiry", NEVER, "mosquitto's default: sessions do not expire");
        draft.byDefault("limits.max-packet-bytes", String.valueOf(LARGEST_PACKET), "mosquitto's default: no limit");
        return draft.finished();
    }

    private void readAll(OldFile file, boolean main) {
        for (OldSetting setting : ConfLines.read(file)) {
            if (setting.key().equals("include_dir")) {
                include(setting, main);
            } else {
                one(setting);
            }
        }
    }

    private void one(OldSetting setting) {
        Rule<MosquittoMapper> rule = RULES.find(setting.key());
        if (rule == null) {
            unknown(setting);
            return;
        }
        rule.action().accept(this, setting);
        if (rule.outcome() != Outcome.SAME) {
            draft.note(setting, rule.outcome(), (rule.target().isEmpty() ? "" : rule.target() + ": ") + rule.advice());
        }
    }

    /** Handles a key of an unknown version, or a misspelt one, which may restrict access. */
    private void unknown(OldSetting setting) {
        String key = setting.key().toLowerCase(Locale.ROOT);
        if (GUARDS.stream().anyMatch(key::contains) || RULES.isNear(key)) {
            draft.problem(
                    setting.unknown(), "is not a known key of mosquitto and may restrict access: remove the line");
        } else {
            draft.note(setting.unknown(), Outcome.NONE, "it is not a known key of mosquitto");
        }
    }

    /** All files with the extension .conf in the directory, in the order of their names; for the main file only. */
    private void include(OldSetting setting, boolean main) {
        if (!main) {
            draft.note(setting, Outcome.NONE, "applies in the main file only");
            return;
        }
        List<Path> files;
        try (Stream<Path> all = Files.list(Path.of(draft.path(setting)))) {
            files = all.filter(path -> path.toString().endsWith(".conf") && Files.isRegularFile(path))
                    .sorted()
                    .limit(MAX_FILES + 1L)
                    .toList();
        } catch (IOException e) {
            draft.problem(setting, "names a directory that cannot be read");
            return;
        }
        if (files.size() > MAX_FILES) {
            draft.problem(setting, "names a directory with more than " + MAX_FILES + " files");
            return;
        }
        OldListener before = current;
        for (Path path : files) {
            current = standard; // as in mosquitto a file begins without a listener
            try {
                readAll(OldFile.read(path, path.toString()), false);
            } catch (ConfigurationException e) {
                throw new ConfigurationException(List.of(setting + ": " + e.getMessage()));
            }
        }
        current = before;
    }

    private void listener(OldSetting setting) {
        String[] words = setting.value().split("\\s+", 2);
        OldListener next = new OldListener(setting, 0);
        try {
            next.port = Integer.parseInt(words[0]);
        } catch (NumberFormatException e) {
            draft.problem(setting, "must begin with a port");
        }
        next.host = words.length > 1 ? words[1].strip() : "";
        current = next;
        remote = true;
        if (next.port == 0) {
            unixSocket = setting;
            draft.note(setting, Outcome.NONE, "Unix sockets are not supported; the listener is left out");
        } else {
            listeners.add(next);
        }
    }

    private void port(OldSetting setting) {
        standard.port = (int) draft.number(setting);
        standardUsed = true;
        remote = true;
    }

    private void keep(OldSetting setting) {
        current.put(setting);
        standardUsed |= current == standard && !isDefault(setting);
        remote |= setting.key().equals("bind_address");
    }

    /** Whether a setting has mosquitto's default and so does not create a listener. */
    private static boolean isDefault(OldSetting setting) {
        return switch (setting.key()) {
            case "max_connections" -> setting.value().startsWith("-");
            case "require_certificate",
                    "use_identity_as_username",
                    "use_subject_as_username",
                    "enable_proxy_protocol" -> setting.value().equals("false");
            default -> false;
        };
    }

    private void keepGlobal(OldSetting setting) {
        globals.put(setting.key(), setting);
    }

    private void protocol(OldSetting setting) {
        if (setting.value().equals("http_api")) {
            current.put(setting);
            draft.note(setting, Outcome.NONE, "use the management port; the listener is left out");
            return;
        }
        current.webSocket = setting.value().equals("websockets");
        standardUsed |= current == standard && !setting.value().equals("mqtt");
        if (!current.webSocket && !setting.value().equals("mqtt")) {
            draft.problem(setting, "must be mqtt or websockets");
        }
    }

    private void access(OldSetting setting) {
        OldSetting perListener = globals.get("per_listener_settings");
        if (perListener != null && draft.bool(perListener)) {
            current.put(setting);
            standardUsed |= current == standard && setting.key().equals("password_file");
        } else {
            globals.put(setting.key(), setting);
        }
    }

    private void anonymousOfListener(OldSetting setting) {
        if (current == standard && !standardUsed) {
            draft.problem(setting, "is before the first listener");
        }
        current.put("allow_anonymous", setting);
    }

    private void plugin(OldSetting setting) {
        plugin = plugin == null ? setting : plugin;
        plugins.add(setting);
    }

    /** Maps the options of mosquitto-go-auth; those of another plugin are reported. */
    private boolean mapPlugin() {
        List<OldSetting> options = plugins.stream()
                .filter(setting -> setting.key().matches("(auth|plugin)_opt_.*"))
                .toList();
        if (GoAuth.owns(options)) {
            GoAuth.map(draft, options);
            plugins.stream()
                    .filter(setting ->
                            !options.contains(setting) && !setting.key().matches("(auth_)?plugin"))
                    .forEach(setting -> draft.note(setting, Outcome.NONE, NO_PLUGIN));
            return true;
        }
        plugins.forEach(setting -> draft.note(setting, Outcome.NONE, NO_PLUGIN));
        return false;
    }

    private void persistence(OldSetting setting) {
        draft.set("storage.kind", draft.bool(setting) ? "rocksdb" : "memory", setting);
    }

    private void queued(OldSetting setting) {
        number("limits.max-queued-messages", 100_000_000).accept(this, setting);
        keepGlobal(setting);
    }

    private void queuesQos0(OldSetting setting) {
        bool("session.queue-qos0").accept(this, setting);
        keepGlobal(setting);
    }

    private void messageSize(OldSetting setting) {
        long bytes = draft.number(setting);
        if (bytes > 0) {
            draft.set("limits.max-packet-bytes", String.valueOf(Math.min(LARGEST_PACKET, bytes + 65_535)), setting);
        }
    }

    private void maxQos(OldSetting setting) {
        long asked = draft.number(setting);
        String before = draft.get("mqtt.max-qos");
        if (before.isEmpty() || asked < Long.parseLong(before)) {
            draft.set("mqtt.max-qos", String.valueOf(asked), setting);
        }
    }

    /** A number and s, h, d, w, m (months) or y. */
    private void expiration(OldSetting setting) {
        String text = setting.value().strip();
        int last = text.length() - 1;
        int unit = last < 1
                ? 0
                : switch (text.charAt(last)) {
                    case 's' -> 1;
                    case 'h' -> 3_600;
                    case 'd' -> 86_400;
                    case 'w' -> 7 * 86_400;
                    case 'm' -> 30 * 86_400;
                    case 'y' -> 365 * 86_400;
                    default -> 0;
                };
        if (unit == 0) {
            draft.problem(setting, "must be a number and one of s, h, d, w, m, y");
            return;
        }
        long number = draft.number(new OldSetting(setting.key(), text.substring(0, last), setting.where()));
        long most = 4_294_967_295L / unit;
        String ours = number > most ? NEVER : unit % 3_600 == 0 ? number * (unit / 3_600) + "h" : number + "s";
        draft.set("session.max-expiry", ours, setting);
        draft.set("session.default-expiry", ours, setting);
    }

    private void decideAccess(boolean localOnly) {
        accessFile("password_file", "access.password-file");
        accessFile("acl_file", "access.acl-file");
        boolean fileOfMosquitto = draft.has("access.acl-file");
        boolean known = mapPlugin();
        if (plugin != null && fileOfMosquitto) {
            draft.note(
                    plugin,
                    Outcome.UNGUARDED,
                    "access.acl-file: actions that the plugin refused are allowed now if the rules of acl_file allow them");
        } else if (plugin != null && !known) {
            draft.rule("# a plugin decided; without rules everything is denied");
        }
        boolean anonymous = true;
        OldSetting said = globals.get("allow_anonymous");
        OldSetting named = said;
        for (OldListener listener : listeners) {
            OldSetting own = listener.get("allow_anonymous");
            OldSetting counts = own == null ? said : own;
            anonymous &= counts == null ? localOnly : draft.bool(counts);
            named = counts == null ? named : counts;
        }
        String text = String.valueOf(anonymous && plugin == null);
        if (named == null) {
            draft.byDefault("access.allow-anonymous", text, "mosquitto's default");
        } else {
            draft.set("access.allow-anonymous", text, named);
        }
    }

    /** Requires one file for all listeners; with different ones users of one listener could connect to another. */
    private void accessFile(String key, String ours) {
        OldSetting found = globals.get(key);
        for (OldListener listener : listeners) {
            OldSetting own = listener.get(key);
            if (own != null && found != null && !draft.path(own).equals(draft.path(found))) {
                draft.problem(
                        own,
                        "differs from the one in " + found.where()
                                + "; access rules apply to all listeners: merge the files, or run one broker for each");
            }
            found = own == null ? found : own;
        }
        if (found != null && !found.value().isEmpty()) {
            draft.set(ours, draft.path(found), found);
        }
    }
}
