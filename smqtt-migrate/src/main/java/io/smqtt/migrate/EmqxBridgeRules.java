// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.EmqxRules.taken;
import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;

import java.util.ArrayList;
import java.util.List;

/** The keys of bridges, connectors, actions, sources and rules in emqx.conf. */
final class EmqxBridgeRules {

    private static final String NO_SINK =
            "write an action of rules.<name> by hand: the types are republish, console, file, http, influxdb, jdbc, kafka, rabbitmq and redis";
    private static final String NO_SOURCE =
            "there is no connection to this kind of service; a client that publishes can bring its messages";
    private static final String BY_HAND =
            "the statement can be copied to rules.<name>.sql, since the SQL is the same; write the actions by hand: docs/rules.md";
    private static final String BRIDGE = "bridges.<name>.";
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
                differs(
                        "rule_engine.rules.<name>.sql",
                        BRIDGE + "topics",
                        "SELECT * FROM topics without WHERE, with actions mqtt, or republish from a source mqtt; others are not migrated",
                        taken()),
                same("rule_engine.rules.<name>.actions*", BRIDGE + "topics", taken()),
                same("rule_engine.rules.<name>.enable", BRIDGE + "topics", taken()),
                none("rule_engine.rules.<name>.*", BY_HAND),
                none("bridges.*", NO_SINK),
                none("connectors.*", NO_SINK),
                none("actions.*", NO_SINK),
                none("sources.*", NO_SOURCE)));
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
                none(theirs + "egress.remote.*", "payload and retain flag are forwarded as they are"),
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
