// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;

import io.smqtt.config.ConfigSchema;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The former smqtt (YAML since 1.0.8, properties before it) and smqttx. Both have the same keys, except for access and cluster.
 *
 * <p>If the meaning of a setting is unclear, the more restrictive one is used.
 */
final class SmqttMapper {

    private static final String NO_THREADS =
            "every connection belongs to one event loop; set event-loops only if one per " + "core is too many";
    private static final String NO_RATE = "limits.max-publish-rate limits messages per second of one client";
    private static final String EMBEDDED =
            "storage.kind: rocksdb stores sessions, queues and retained messages on disk; the data "
                    + "of the old store is not migrated";
    private static final String NO_SOURCES =
            "an action of a rule has the address of its own sink: docs/rules.md#sinks; there are http, influxdb, jdbc, kafka, rabbitmq and redis";

    static final RuleTable<SmqttMapper> RULES = new RuleTable<>(List.<Rule<SmqttMapper>>of(
            same("logLevel", "logging.level", SmqttMapper::logLevel),
            same("tcp.port", "listeners.tcp.port", set("listeners.tcp.port")),
            differs(
                    "tcp.username",
                    "access.password-file",
                    "the user is written to a password file, hashed; clients without a user are refused, as before",
                    SmqttMapper::keep),
            differs(
                    "tcp.password",
                    "access.password-file",
                    "the password is written to a password file, hashed",
                    SmqttMapper::keep),
            differs(
                    "tcp.connectModel",
                    "",
                    "the newer connection of a client identifier always wins, as with KICK and as the standard requires",
                    SmqttMapper::keep),
            none("tcp.wiretap", "packets are not logged; use tcpdump"),
            none("tcp.bossThreadSize", NO_THREADS),
            none("tcp.workThreadSize", NO_THREADS),
            none("tcp.businessThreadSize", NO_THREADS),
            none("tcp.businessQueueSize", NO_THREADS),
            same("tcp.messageMaxSize", "limits.max-packet-bytes", set("limits.max-packet-bytes")),
            none("tcp.lowWaterMark", "writing continues as soon as the socket accepts more"),
            differs(
                    "tcp.highWaterMark",
                    "limits.max-outbound-bytes",
                    "past it QoS 0 messages to the client are dropped and counted, QoS 1 and 2 wait in its queue",
                    set("limits.max-outbound-bytes")),
            none("tcp.globalReadWriteSize", NO_RATE),
            none("tcp.channelReadWriteSize", NO_RATE),
            same("tcp.options.SO_BACKLOG", "listeners.tcp.backlog", set("listeners.tcp.backlog")),
            none("tcp.options.*", "socket options are not configurable"),
            none("tcp.childOptions.*", "socket options are not configurable; TCP_NODELAY is on"),
            same("tcp.ssl.enable", "listeners.tcp.tls, listeners.ws.tls", SmqttMapper::keep),
            same("tcp.ssl.crt", "listeners.<name>.tls.certificate", SmqttMapper::keep),
            same("tcp.ssl.key", "listeners.<name>.tls.key", SmqttMapper::keep),
            none(
                    "tcp.ssl.ca",
                    "the old broker did not read it; listeners.tcp.tls.client-ca and .client-auth: required make clients send "
                            + "certificates"),
            same("ws.enable", "listeners.ws.enabled", SmqttMapper::keep),
            same("ws.port", "listeners.ws.port", SmqttMapper::webSocketPort),
            same("ws.path", "listeners.ws.path", SmqttMapper::webSocketPath),
            differs(
                    "http.enable",
                    "management.port, legacy.management-paths",
                    "on loopback only and with a token, Authorization: Bearer; for other addresses set management.host and .token-file",
                    SmqttMapper::keep),
            differs(
                    "http.host",
                    "management.host",
                    "the management port stays on loopback until management.token-file is set",
                    SmqttMapper::keep),
            same("http.port", "management.port", SmqttMapper::keep),
            none("http.accessLog", "requests of the management port are not logged"),
            same("http.ssl.enable", "management.tls", SmqttMapper::keep),
            same("http.ssl.crt", "management.tls.certificate", SmqttMapper::keep),
            same("http.ssl.key", "management.tls.key", SmqttMapper::keep),
            none("http.ssl.*", "the management port uses a token and no client certificates"),
            none("http.admin.*", "there is no dashboard; the token of the management port replaces user and password"),
            same("cluster.enable", "cluster.enabled", SmqttMapper::keep),
            same("cluster.url", "cluster.seeds", SmqttMapper::keep),
            same("cluster.port", "cluster.bind", SmqttMapper::keep),
            same("cluster.node", "cluster.node-id", SmqttMapper::keep),
            none("cluster.namespace", "use a different cluster.secret for each cluster"),
            none(
                    "cluster.external.*",
                    "nodes connect to cluster.bind; set it to an address that the other nodes can reach"),
            same("cluster.localAddress", "cluster.bind", SmqttMapper::keep),
            differs(
                    "cluster.addresses",
                    "cluster.seeds",
                    "the port is that of the old cluster's discovery; use the port of each node's cluster.bind",
                    SmqttMapper::keep),
            none("cluster.workDirectory", "use storage.dir"),
            differs(
                    "meter.meterType",
                    "management.port",
                    "the path is /metrics; the meters have other names, also in InfluxDB",
                    SmqttMapper::keep),
            same("meter.influxdb.uri", "management.influx.url", SmqttMapper::keep),
            same("meter.influxdb.db", "management.influx.database", SmqttMapper::keep),
            new Rule<>(
                    "meter.influxdb.userName",
                    Outcome.SAME,
                    "management.influx.user",
                    "only together with its password",
                    SmqttMapper::keep),
            new Rule<>(
                    "meter.influxdb.password", // noted where it counts
                    Outcome.SAME,
                    "management.influx.password",
                    SmqttMeters.PASSWORD,
                    SmqttMapper::keep),
            new Rule<>(
                    "meter.influxdb.step",
                    Outcome.SAME,
                    "management.influx.interval",
                    "10 seconds to one hour; 10 seconds if it is not an integer",
                    SmqttMapper::keep),
            same("auth.fixed.username", "access.password-file", SmqttMapper::keep),
            same("auth.fixed.password", "access.password-file", SmqttMapper::keep),
            new Rule<>(
                    "auth.file",
                    Outcome.UNGUARDED,
                    "access.password-file",
                    "a user is no longer bound to one client identifier; the users are written to a password file, hashed",
                    SmqttMapper::keep),
            none(
                    "auth.http.*",
                    "all clients are refused until access.password-file is set; when embedded, use an Authenticator"),
            none(
                    "auth.sql.*",
                    "all clients are refused until access.password-file is set; when embedded, use an Authenticator"),
            same("acl.aclPolicy", "access.acl-file", SmqttMapper::keep),
            differs(
                    "acl.filePath",
                    "access.acl-file",
                    "rules for all clients and for networks are migrated; rewrite rules for client identifiers as rules for users",
                    SmqttMapper::keep),
            none("acl.jdbcAclConfig.*", "everything is denied until access.acl-file has rules"),
            none("db.*", EMBEDDED),
            none("redis.*", EMBEDDED),
            new Rule<>( // noted where it counts
                    "rules*",
                    Outcome.SAME,
                    "rules.<name>.sql",
                    "chains of PREDICATE, TOPIC and LOG whose filters compare single fields with constants; others are named",
                    SmqttMapper::keep),
            none("sources*", NO_SOURCES)));

    private final OldFile file;
    private final Draft draft;
    private final SmqttKeys keys;

    private SmqttMapper(OldFile file) {
        this.file = file;
        this.draft = new Draft(file.directory());
        this.keys = new SmqttKeys(draft);
    }

    static Draft map(OldFile file, List<OldSetting> settings) {
        return new SmqttMapper(file).map(settings);
    }

    /** Whether more keys belong to the former broker than to this one, by the first word, or by the whole key if the word is ambiguous. */
    static boolean owns(List<OldSetting> settings, ConfigSchema ours) {
        Set<String> keys = new HashSet<>();
        Set<String> blocks = new HashSet<>();
        ours.describe().forEach(key -> {
            keys.add(key.name());
            blocks.add(firstWord(key.name()));
        });
        Set<String> formerBlocks = new HashSet<>();
        RULES.rules().forEach(rule -> formerBlocks.add(firstWord(RuleTable.folded(rule.key()))));
        int former = 0;
        for (OldSetting setting : settings) {
            if (setting.key().startsWith(SmqttKeys.ROOT)) {
                String key = SmqttKeys.normalized(setting.key());
                boolean here = blocks.contains(firstWord(key));
                boolean there = formerBlocks.contains(firstWord(RuleTable.folded(key)));
                if (here && there) {
                    here = keys.contains(key);
                    there = !here && RULES.find(key) != null;
                }
                former += (there ? 1 : 0) - (here ? 1 : 0);
            }
        }
        return former > 0;
    }

    private static String firstWord(String key) {
        int end = 0;
        while (end < key.length() && ".[*".indexOf(key.charAt(end)) < 0) {
            end++;
        }
        return key.substring(0, end);
    }

    private static BiConsumer<SmqttMapper, OldSetting> set(String key) {
        return (mapper, setting) -> {
            if (!setting.value().isEmpty()) {
                mapper.draft.set(key, setting.value(), setting);
            }
        };
    }

    private Draft map(List<OldSetting> settings) {
        if (settings.stream().noneMatch(setting -> setting.key().startsWith(SmqttKeys.ROOT))) {
            throw file.problem(1, "has no key below smqtt, so it is not a configuration of the former smqtt");
        }
        for (OldSetting setting : settings) {
            String key = SmqttKeys.normalized(setting.key());
            Rule<SmqttMapper> rule = key.isEmpty() ? null : RULES.find(key);
            if (rule == null) {
                draft.note(setting.unknown(), Outcome.NONE, "the former smqtt has no such key");
                continue;
            }
            keys.saw(key);
            rule.action().accept(this, setting);
            if (rule.outcome() != Outcome.SAME) {
                draft.note(
                        setting, rule.outcome(), (rule.target().isEmpty() ? "" : rule.target() + ": ") + rule.advice());
            }
        }
        webSocket();
        tls();
        http();
        new SmqttMeters(keys, draft).write();
        new SmqttRules(keys, draft).write();
        cluster();
        new SmqttAccess(file, keys, draft).write();
        defaults();
        return draft.finished();
    }

    private void keep(OldSetting setting) {
        keys.keep(setting);
    }

    private void logLevel(OldSetting setting) {
        String level = setting.value().strip().toLowerCase(Locale.ROOT);
        if (!level.isEmpty()) {
            draft.set("logging.level", level.equals("all") ? "trace" : level, setting);
        }
    }

    private void webSocketPort(OldSetting setting) {
        keep(setting);
        if (!setting.value().isEmpty()) {
            draft.set("listeners.ws.port", setting.value(), setting);
        }
    }

    private void webSocketPath(OldSetting setting) {
        keep(setting);
        String path = setting.value().strip();
        if (!path.isEmpty()) {
            draft.set("listeners.ws.path", path.startsWith("/") ? path : "/" + path, setting);
        }
    }

    private void webSocket() {
        OldSetting enable = keys.kept("ws.enable");
        if (enable != null && draft.bool(enable)) {
            draft.byDefault("listeners.ws.port", "8999", "the former default");
            return;
        }
        draft.drop("listeners.ws.port");
        draft.drop("listeners.ws.path");
        for (String key : List.of("ws.port", "ws.path")) {
            OldSetting unused = keys.kept(key);
            if (unused != null) {
                draft.note(unused, Outcome.NONE, "WebSocket is off in this file");
            }
        }
        if (enable != null) {
            draft.set("listeners.ws.enabled", "false", enable);
        } else {
            draft.byDefault("listeners.ws.enabled", "false", "not enabled in " + file.shownAs());
        }
    }

    /** The old broker used TLS of the block tcp for WebSocket too, and created a certificate if none was set. */
    private void tls() {
        OldSetting certificate = keys.kept("tcp.ssl.crt");
        OldSetting key = keys.kept("tcp.ssl.key");
        boolean on = keys.isOn("tcp.ssl.enable", certificate != null && key != null);
        if (!on) {
            unused("TLS is off in this file", certificate, key);
            return;
        }
        OldSetting enable = keys.kept("tcp.ssl.enable");
        if (certificate == null || key == null) {
            OldSetting about = enable == null ? new OldSetting("smqtt.tcp.ssl", "", file.where(1)) : enable;
            draft.problem(
                    about,
                    "is on without crt and key; the old broker created a certificate at each start, "
                            + "which protects nothing. Create one and set both files");
            return;
        }
        for (String listener : draft.has("listeners.ws.enabled") ? List.of("tcp") : List.of("tcp", "ws")) {
            draft.set("listeners." + listener + ".tls.certificate", draft.path(certificate), certificate);
            draft.set("listeners." + listener + ".tls.key", draft.path(key), key);
        }
    }

    private void unused(String why, @Nullable OldSetting... settings) {
        for (OldSetting setting : settings) {
            if (setting != null) {
                draft.note(setting, Outcome.NONE, why);
            }
        }
    }

    /** Without its files the port keeps this broker's defaults: loopback, and a token. */
    private void tlsOfManagement() {
        OldSetting enable = keys.kept("http.ssl.enable");
        OldSetting certificate = keys.kept("http.ssl.crt");
        OldSetting key = keys.kept("http.ssl.key");
        if (!keys.isOn("http.ssl.enable", certificate != null && key != null)) {
            unused("TLS is off in this file", certificate, key);
        } else if (certificate != null && key != null) {
            draft.set("management.tls.certificate", draft.path(certificate), certificate);
            draft.set("management.tls.key", draft.path(key), key);
        } else {
            unused(
                    "it needs both crt and key; the old broker created a certificate. The port has no TLS until "
                            + "management.tls.certificate and .key name files",
                    enable,
                    certificate,
                    key);
        }
    }

    private void http() {
        OldSetting enable = keys.kept("http.enable");
        if (!keys.hasSeen("http.") || (enable != null && !draft.bool(enable))) {
            unused("HTTP is off in this file", keys.kept("http.ssl.crt"), keys.kept("http.ssl.key"));
            return;
        }
        tlsOfManagement();
        OldSetting port = keys.kept("http.port");
        OldSetting about = enable == null ? keys.kept("http.host") : enable;
        OldSetting any = about == null ? port : about;
        if (any != null) {
            draft.set("legacy.management-paths", "true", any);
        } else {
            draft.byDefault("legacy.management-paths", "true", "the former broker had these paths");
        }
        if (port != null) {
            draft.set("management.port", port.value(), port);
        } else if (about != null) {
            draft.set("management.port", "60000", about);
        }
    }

    private void cluster() {
        OldSetting url = keys.kept("cluster.url");
        OldSetting addresses = keys.kept("cluster.addresses");
        OldSetting enable = keys.kept("cluster.enable");
        boolean on = enable == null ? addresses != null : draft.bool(enable);
        if (!on) {
            for (String key : List.of("url", "port", "node", "localAddress")) {
                OldSetting unused = keys.kept("cluster." + key);
                if (unused != null) {
                    draft.note(unused, Outcome.NONE, "the cluster is off in this file");
                }
            }
            return;
        }
        OldSetting seeds = url == null ? addresses : url;
        OldSetting about = enable == null ? seeds : enable;
        if (about == null) {
            return;
        }
        draft.set("cluster.enabled", "true", about);
        OldSetting node = keys.kept("cluster.node");
        if (node != null) {
            draft.set("cluster.node-id", node.value(), node);
        }
        String list = seeds == null ? "" : withPorts(seeds.value());
        if (seeds != null) {
            draft.set("cluster.seeds", list, seeds);
        }
        draft.set("cluster.bind", bind(list), about);
        draft.note(
                about,
                Outcome.DIFFERENT,
                "cluster.bind, cluster.secret: the address must be reachable for the other nodes, and all nodes need the same "
                        + "secret, SMQTT_CLUSTER__SECRET; nodes of the old broker cannot join");
    }

    private static String withPorts(String addresses) {
        StringBuilder list = new StringBuilder();
        for (String address : addresses.split(",", -1)) {
            String seed = address.strip();
            if (!seed.isEmpty()) {
                list.append(list.isEmpty() ? "" : ",").append(seed).append(seed.indexOf(':') < 0 ? ":7800" : "");
            }
        }
        return list.toString();
    }

    /** The entry of the list for this node, by its address or its port; otherwise loopback. */
    private String bind(String seeds) {
        OldSetting local = keys.kept("cluster.localAddress");
        OldSetting port = keys.kept("cluster.port");
        String[] all = seeds.isEmpty() ? new String[0] : seeds.split(",", -1);
        String found = null;
        for (String seed : all) {
            boolean own = local != null
                    ? seed.startsWith(local.value() + ":")
                    : port != null && seed.endsWith(":" + port.value());
            if (own && found != null) {
                found = null;
                break;
            }
            found = own ? seed : found;
        }
        if (found != null) {
            return found;
        }
        return (local == null ? "127.0.0.1" : local.value()) + ":" + (port == null ? "7800" : port.value());
    }

    private void defaults() {
        draft.byDefault("limits.max-packet-bytes", "4194304", "the former default");
        draft.byDefault("legacy.event-topics", "true", "the former broker published them");
        draft.note(
                file.shownAs(),
                Outcome.DIFFERENT,
                "legacy.event-topics: $event/connect and $event/close are published; subscribers need a rule of access.acl-file");
        draft.byDefault("session.max-expiry", "4294967295s", "sessions did not expire");
        draft.byDefault("session.default-expiry", "4294967295s", "sessions did not expire");
    }
}
