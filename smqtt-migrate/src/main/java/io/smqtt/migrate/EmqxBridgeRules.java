// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.EmqxRules.taken;
import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The keys of bridges, connectors, actions, sources and rules in emqx.conf. */
final class EmqxBridgeRules {

    private static final String NO_SINK =
            "write an action of rules.<name> by hand: the types are republish, console, file, http, influxdb, jdbc, kafka, rabbitmq and redis";
    private static final String NO_SOURCE =
            "write sources.<name> by hand: the types are http, kafka, rabbitmq and redis; for others a client that publishes can bring the messages";
    private static final String QUEUES =
            "connections, pauses and queues are those of actions here: docs/configuration.md";
    private static final String NOT_WRITTEN =
            "is not written, and may change the data: the keys of its type are in docs/rules.md#sinks";
    private static final String BRIDGE = "bridges.<name>.";
    private static final String ACTION = "rules.<name>.actions.<name>.";
    private static final Set<String> SQL_TYPES = Set.of("pgsql", "timescale", "matrix", "mysql");
    private static final String ANNOUNCED = "the limits are those that the other broker announces";

    private EmqxBridgeRules() {}

    static List<Rule<EmqxMapper>> all() {
        List<Rule<EmqxMapper>> all = new ArrayList<>();
        all.addAll(connection("bridges.mqtt.<name>."));
        all.addAll(connection("connectors.mqtt.<name>."));
        all.addAll(List.of(
                same("actions.mqtt.<name>.connector", BRIDGE + "topics", taken()),
                same("actions.mqtt.<name>.enable", BRIDGE + "topics", taken()),
                differs(
                        "actions.mqtt.<name>.parameters.topic",
                        BRIDGE + "topics",
                        "with a rule that has only FROM; the only placeholder is ${topic}",
                        taken()),
                same("actions.mqtt.<name>.parameters.qos", BRIDGE + "topics", taken()),
                none("actions.mqtt.<name>.parameters.*", "payload and retain flag are forwarded as they are"),
                none("actions.mqtt.<name>.*", ANNOUNCED),
                same("sources.mqtt.<name>.connector", BRIDGE + "topics", taken()),
                same("sources.mqtt.<name>.enable", BRIDGE + "topics", taken()),
                same("sources.mqtt.<name>.parameters.topic", BRIDGE + "topics", taken()),
                same("sources.mqtt.<name>.parameters.qos", BRIDGE + "topics", taken()),
                none("sources.mqtt.<name>.*", ANNOUNCED),
                new Rule<>(
                        "rule_engine.rules.<name>.sql",
                        Outcome.SAME,
                        "rules.<name>.sql, " + BRIDGE + "topics",
                        "the statement itself. SELECT * FROM topics without WHERE, with actions mqtt only, or with republish from a source mqtt, becomes topics of a bridge",
                        taken()),
                new Rule<>(
                        "rule_engine.rules.<name>.actions*",
                        Outcome.SAME,
                        "rules.<name>.actions.<name>.type, " + BRIDGE + "topics",
                        "republish, console, and actions of the types below. One that has a placeholder for what the statement does not select is left out: EMQX writes undefined there",
                        taken()),
                same("rule_engine.rules.<name>.enable", "rules.<name>.enabled", taken()),
                same("rule_engine.rules.<name>.description", "rules.<name>.description", taken()),
                none("rule_engine.rules.<name>.*", "names and times are not needed")));
        EmqxKeys.SINKS.forEach(type -> all.addAll(sink(type)));
        all.addAll(List.of(
                none("bridges.*", NO_SINK),
                none("connectors.*", NO_SINK),
                none("actions.*", NO_SINK),
                none("sources.*", NO_SOURCE)));
        return all;
    }

    /** A connector and an action of one type, with the keys that are written. */
    private static List<Rule<EmqxMapper>> sink(String type) {
        String connector = "connectors." + type + ".<name>.";
        String action = "actions." + type + ".<name>.";
        List<Rule<EmqxMapper>> all = new ArrayList<>();
        List.of("enable", "connector").forEach(key -> all.add(same(action + key, ACTION + "type", taken())));
        all.add(same(action + "resource_opts.batch_size", ACTION + "batch-size", taken()));
        all.add(same(action + "resource_opts.batch_time", ACTION + "batch-time", taken()));
        all.add(same(connector + "enable", ACTION + "type", taken()));
        keysOf(type).forEach((theirs, ours) -> {
            String[] place = theirs.split(" ", 2);
            String key = (place[0].equals("c") ? connector : action) + place[1];
            all.add(
                    ours.endsWith("-file")
                            ? new Rule<>(
                                    key, Outcome.SAME, ACTION + ours, "written to a file for its owner only", taken())
                            : same(key, ACTION + ours, taken()));
        });
        List.of("enable", "verify", "cacertfile", "certfile", "keyfile")
                .forEach(key -> all.add(same(connector + "ssl." + key, ACTION + tlsKey(type, key), taken())));
        all.add(none(connector + "*", QUEUES));
        List.of("description", "tags", "created_at", "last_modified_at")
                .forEach(key -> all.add(none(action + key + "*", "not needed")));
        all.add(none(action + "resource_opts.*", QUEUES));
        all.add(none(action + "parameters.max_batch_bytes", QUEUES));
        all.add(none(action + "parameters.buffer.*", QUEUES));
        List.of("parameters", "local_topic", "fallback_actions") // a line for each key
                .forEach(key -> all.add(none(action + key + "*", NOT_WRITTEN)));
        all.add(none(action + "*", NOT_WRITTEN));
        return all;
    }

    private static String tlsKey(String type, String key) {
        boolean client = type.equals("kafka_producer") || type.equals("rabbitmq");
        return switch (key) {
            case "certfile" -> client ? "certificate" : "ca";
            case "keyfile" -> client ? "private-key" : "ca";
            case "enable" -> type.equals("kafka_producer") ? "tls" : "url";
            default -> SQL_TYPES.contains(type) ? "url" : "ca";
        };
    }

    /** The keys of a connector (c) and an action (a), with those of this broker. */
    private static Map<String, String> keysOf(String type) {
        Map<String, String> all = new LinkedHashMap<>();
        String[] pairs = switch (type) {
            case "http" ->
                new String[] {
                    "c url",
                    "url",
                    "c headers.*",
                    "headers.<name>",
                    "a parameters.path",
                    "url",
                    "a parameters.method",
                    "method",
                    "a parameters.body",
                    "body",
                    "a parameters.headers.*",
                    "headers.<name>"
                };
            case "influxdb" ->
                new String[] {
                    "c server",
                    "url",
                    "c parameters.influxdb_type",
                    "version",
                    "c parameters.database",
                    "database",
                    "c parameters.username",
                    "username",
                    "c parameters.password",
                    "password-file",
                    "c parameters.org",
                    "org",
                    "c parameters.bucket",
                    "bucket",
                    "c parameters.token",
                    "token-file",
                    "a parameters.write_syntax",
                    "measurement",
                    "a parameters.precision",
                    "precision"
                };
            case "kafka_producer" ->
                new String[] {
                    "c bootstrap_hosts",
                    "bootstrap-servers",
                    "c authentication",
                    "sasl",
                    "c authentication.mechanism",
                    "sasl",
                    "c authentication.username",
                    "username",
                    "c authentication.password",
                    "password-file",
                    "a parameters.topic",
                    "topic",
                    "a parameters.message.key",
                    "key",
                    "a parameters.message.value",
                    "value",
                    "a parameters.compression",
                    "compression",
                    "a parameters.kafka_ext_headers*",
                    "headers.<name>"
                };
            case "rabbitmq" ->
                new String[] {
                    "c server",
                    "url",
                    "c port",
                    "url",
                    "c username",
                    "username",
                    "c password",
                    "password-file",
                    "c virtual_host",
                    "virtual-host",
                    "a parameters.exchange",
                    "exchange",
                    "a parameters.routing_key",
                    "routing-key",
                    "a parameters.payload_template",
                    "body",
                    "a parameters.delivery_mode",
                    "persistent",
                    "a parameters.headers_template*",
                    "headers.<name>",
                    "a parameters.properties_template*",
                    "properties.<name>"
                };
            case "redis" ->
                new String[] {
                    "c parameters.redis_type",
                    "mode",
                    "c parameters.server",
                    "url",
                    "c parameters.servers",
                    "url",
                    "c parameters.sentinel",
                    "sentinel-master",
                    "c parameters.username",
                    "username",
                    "c parameters.password",
                    "password-file",
                    "c parameters.database",
                    "database",
                    "a parameters.command_template",
                    "command"
                };
            default ->
                new String[] {
                    "c server",
                    "url",
                    "c database",
                    "url",
                    "c username",
                    "username",
                    "c password",
                    "password-file",
                    "a parameters.sql",
                    "statement"
                };
        };
        for (int i = 0; i < pairs.length; i += 2) {
            all.put(pairs[i], pairs[i + 1]);
        }
        return all;
    }

    private static Rule<EmqxMapper> connections(String theirs) {
        return new Rule<>(
                theirs,
                Outcome.SAME,
                BRIDGE + "connections",
                "if nothing comes in; each has its part of the topics",
                taken());
    }

    private static List<Rule<EmqxMapper>> connection(String theirs) {
        return List.of(
                same(theirs + "enable", BRIDGE + "enabled", taken()),
                same(theirs + "server", BRIDGE + "addresses", taken()),
                same(theirs + "proto_ver", BRIDGE + "version", taken()),
                differs(
                        theirs + "clientid_prefix",
                        BRIDGE + "client-id",
                        "the identifier itself; EMQX adds node and number",
                        taken()),
                same(theirs + "username", BRIDGE + "username", taken()),
                new Rule<>(
                        theirs + "password",
                        Outcome.SAME,
                        BRIDGE + "password-file",
                        "written to a file for its owner only",
                        taken()),
                same(theirs + "clean_start", BRIDGE + "clean-start", taken()),
                same(theirs + "keepalive", BRIDGE + "keep-alive", taken()),
                same(theirs + "bridge_mode", BRIDGE + "try-private", taken()),
                same(theirs + "reconnect_interval", BRIDGE + "min-delay", taken()),
                connections(theirs + "pool_size"),
                connections(theirs + "egress.pool_size"),
                same(theirs + "egress.local.topic", BRIDGE + "topics", taken()),
                differs(theirs + "egress.remote.topic", BRIDGE + "topics", "the only placeholder is ${topic}", taken()),
                same(theirs + "egress.remote.qos", BRIDGE + "topics", taken()),
                new Rule<>(
                        theirs + "egress.remote.retain",
                        Outcome.SAME,
                        BRIDGE + "outgoing-retain",
                        "with other values than false the flag stays as it is",
                        taken()),
                none(theirs + "egress.remote.*", "the payload is forwarded as it is"),
                none(theirs + "egress.*", ANNOUNCED),
                same(theirs + "ingress.remote.topic", BRIDGE + "topics", taken()),
                same(theirs + "ingress.remote.qos", BRIDGE + "topics", taken()),
                differs(theirs + "ingress.local.topic", BRIDGE + "topics", "the only placeholder is ${topic}", taken()),
                none(theirs + "ingress.local.*", "payload and retain flag are forwarded as they are"),
                none(theirs + "ingress.*", ANNOUNCED),
                same(theirs + "ssl.enable", BRIDGE + "addresses", taken()),
                same(theirs + "ssl.cacertfile", BRIDGE + "tls.ca", taken()),
                same(theirs + "ssl.certfile", BRIDGE + "tls.certificate", taken()),
                same(theirs + "ssl.keyfile", BRIDGE + "tls.key", taken()),
                new Rule<>(
                        theirs + "ssl.verify",
                        Outcome.SAME,
                        BRIDGE + "tls.ca",
                        "the certificate of the other broker is always checked",
                        taken()),
                none(theirs + "ssl.*", "not configurable: TLS 1.2 and 1.3 with forward secrecy"),
                none(theirs + "*", ANNOUNCED));
    }
}
