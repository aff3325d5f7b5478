// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.EmqxValue.bytes;
import static io.smqtt.migrate.EmqxValue.count;
import static io.smqtt.migrate.EmqxValue.countOrAll;
import static io.smqtt.migrate.EmqxValue.duration;
import static io.smqtt.migrate.EmqxValue.flag;
import static io.smqtt.migrate.EmqxValue.rate;
import static io.smqtt.migrate.EmqxValue.text;
import static io.smqtt.migrate.EmqxValue.word;
import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;
import static io.smqtt.migrate.Rule.unguarded;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The keys of emqx.conf of version 5. Blocks with names have them as {@code <name>}; entries of the lists authentication and
 * authorization.sources have their type in its place.
 */
final class EmqxRules {

    private static final long SECOND = 1_000;
    private static final long HOUR = 3_600_000;
    private static final long DAY = 24 * HOUR;
    private static final long MANY = 100_000_000;
    private static final long MAX_RATE_BYTES = 1L << 40;
    private static final String PACKETS = "the highest of all listeners' limits is limits.max-packet-bytes; ";
    private static final String NO_CIPHERS = "not configurable: TLS 1.2 and 1.3 with forward secrecy";
    private static final String SOCKETS = "socket options are not configurable; TCP_NODELAY is on";
    private static final String PROCESSES = "there are no Erlang processes; the limits of the broker are limits.*";
    private static final String METRICS =
            "/metrics of the management port, for Prometheus; management.otlp, management.tracing";
    private static final String LOG =
            "the log goes to standard error: use journald, or redirect it to a file; logging.format: json";
    private static final String CLUSTER =
            "write cluster.*: nodes find each other by cluster.seeds, on a port of their own";
    private static final String BY_RULE = "write a rule that republishes what it makes of the message: docs/rules.md";
    private static final long LARGEST_PAYLOAD = 268_435_456;
    private static final long LONGEST_EXPIRY_MILLIS = 42_949_669_000L;
    private static final String RETAINED = "set limits.max-retained-messages and limits.max-retained-bytes";
    private static final String ONE_ZONE = "settings apply to all listeners; run a broker of its own for a zone";

    private EmqxRules() {}

    /** All rules, in the order of the documentation. */
    static RuleTable<EmqxMapper> table() {
        List<Rule<EmqxMapper>> all = new ArrayList<>();
        all.addAll(listeners());
        all.addAll(mqtt());
        all.addAll(features());
        all.addAll(EmqxAccessRules.all());
        all.addAll(EmqxBridgeRules.all());
        all.addAll(operation());
        return new RuleTable<>(all);
    }

    private static final String L = "listeners.<type>.<name>.";

    private static List<Rule<EmqxMapper>> listeners() {
        return List.of(
                same(L + "bind", "listeners.<name>.host, .port", EmqxMapper::bind),
                same(L + "enable", "listeners.<name>.enabled", listener("enabled", flag())),
                same(L + "enabled", "listeners.<name>.enabled", listener("enabled", flag())),
                same(
                        L + "max_connections",
                        "listeners.<name>.max-connections",
                        listener("max-connections", countOrAll(1, MANY))),
                same(
                        L + "max_conn_rate",
                        "listeners.<name>.max-connect-rate",
                        listener("max-connect-rate", rate(1_000_000))),
                same(
                        L + "limiter.connection.rate",
                        "listeners.<name>.max-connect-rate",
                        listener("max-connect-rate", rate(1_000_000))),
                differs(
                        L + "max_conn_burst",
                        "listeners.<name>.max-connect-burst",
                        "the number that may come at once after a pause",
                        listener("max-connect-burst", rate(1_000_000))),
                differs(
                        L + "messages_rate",
                        "limits.max-publish-rate",
                        "for each client of all listeners; the lowest of them",
                        lowest("limits.max-publish-rate", rate(MANY))),
                differs(
                        L + "messages_burst",
                        "limits.max-publish-burst",
                        "for each client of all listeners; the lowest of them",
                        lowest("limits.max-publish-burst", rate(MANY))),
                differs(
                        L + "bytes_rate",
                        "limits.max-bytes-rate",
                        "for each client of all listeners; the lowest of them",
                        lowest("limits.max-bytes-rate", rate(MAX_RATE_BYTES))),
                differs(
                        L + "bytes_burst",
                        "limits.max-bytes-burst",
                        "for each client of all listeners; the lowest of them",
                        lowest("limits.max-bytes-burst", rate(MAX_RATE_BYTES))),
                none(L + "limiter.*", "use listeners.<name>.max-publish-rate and limits.max-publish-rate"),
                none(L + "subs_rate", "use limits.max-subscriptions-per-client"),
                new Rule<>(
                        L + "proxy_protocol",
                        Outcome.SAME,
                        "listeners.<name>.proxy-protocol",
                        "set listeners.<name>.trusted-proxies to the networks of the proxies; it has only the loopback address",
                        EmqxMapper::proxy),
                none(L + "proxy_protocol_timeout", "listeners.<name>.connect-timeout limits the time until CONNECT"),
                new Rule<>(
                        L + "mountpoint",
                        Outcome.SAME,
                        "",
                        "not enforced: all listeners share the same topics; separate the clients by access.acl-file",
                        EmqxMapper::mountPoint),
                none(L + "zone", ONE_ZONE),
                new Rule<>(
                        L + "access_rules",
                        Outcome.SAME,
                        "",
                        "not enforced, unless it is allow all: use a firewall, or address lines in access.acl-file",
                        EmqxMapper::accessRules),
                new Rule<>(
                        L + "enable_authn",
                        Outcome.SAME,
                        "access.allow-anonymous",
                        "false: clients of this listener are authenticated nevertheless, since access applies to all listeners",
                        EmqxMapper::enableAuthn),
                new Rule<>(
                        L + "authentication*",
                        Outcome.SAME,
                        "",
                        "the conversion fails: access applies to all listeners; move it to authentication, or run a broker for each",
                        (mapper, setting) -> mapper.draft()
                                .problem(
                                        setting,
                                        "applies to one listener; access.* applies to all: move it to authentication, "
                                                + "or run one broker for each")),
                none(L + "acceptors", "connections are accepted by the event loops"),
                same(L + "tcp_options.backlog", "listeners.<name>.backlog", listener("backlog", count(1, 65_535))),
                none(L + "tcp_options.*", SOCKETS),
                none(L + "tcp_backend", SOCKETS),
                none(L + "parse_unit", SOCKETS),
                none(L + "nolinger", SOCKETS),
                same(L + "ssl_options.certfile", "listeners.<name>.tls.certificate", taken()),
                same(L + "ssl_options.keyfile", "listeners.<name>.tls.key", taken()),
                same(L + "ssl_options.cacertfile", "listeners.<name>.tls.client-ca", taken()),
                same(L + "ssl_options.verify", "listeners.<name>.tls.client-auth", taken()),
                same(L + "ssl_options.fail_if_no_peer_cert", "listeners.<name>.tls.client-auth: required", taken()),
                none(L + "ssl_options.password", "keys must not be encrypted: openssl pkey -in key.pem -out plain.pem"),
                new Rule<>(
                        L + "ssl_options.enable_crl_check",
                        Outcome.SAME,
                        "",
                        "not enforced: revocation is not checked; replace the authority, or use short-lived certificates",
                        EmqxMapper::revocation),
                new Rule<>(
                        L + "ssl_options.ocsp.enable_ocsp_stapling",
                        Outcome.SAME,
                        "",
                        "not enforced: revocation is not checked; replace the authority, or use short-lived certificates",
                        EmqxMapper::revocation),
                none(L + "ssl_options.ocsp.*", "there is no OCSP stapling"),
                none(L + "ssl_options.*", NO_CIPHERS),
                same(L + "websocket.mqtt_path", "listeners.<name>.path", listener("path", text())),
                differs(
                        L + "websocket.check_origins",
                        "listeners.<name>.allowed-origins",
                        "also checked without check_origin_enable",
                        listener("allowed-origins", text())),
                none(L + "websocket.max_frame_size", PACKETS + "frames have no limit of their own"),
                none(
                        L + "websocket.proxy_*",
                        "addresses are taken from the PROXY protocol: listeners.<name>.proxy-protocol"),
                none(
                        L + "websocket.*",
                        "not configurable; the subprotocol is mqtt, a message may be in several frames"),
                none("listeners.quic.*", "QUIC is not supported; the listener is left out"),
                none("listeners.*", "this kind of listener is not supported; it is left out"));
    }

    private static List<Rule<EmqxMapper>> mqtt() {
        return List.of(
                same(
                        "mqtt.max_packet_size",
                        "limits.max-packet-bytes",
                        set("limits.max-packet-bytes", bytes(16, 268_435_460))),
                none("mqtt.max_clientid_len", "client identifiers have at most 65,535 bytes; limits.max-session-bytes"),
                same(
                        "mqtt.max_topic_levels",
                        "limits.max-topic-levels",
                        set("limits.max-topic-levels", countOrAll(1, 65_535))),
                same("mqtt.max_qos_allowed", "mqtt.max-qos", set("mqtt.max-qos", count(0, 2))),
                same(
                        "mqtt.max_topic_alias",
                        "mqtt.topic-alias-maximum",
                        set("mqtt.topic-alias-maximum", count(0, 65_535))),
                same("mqtt.retain_available", "mqtt.retain-available", EmqxMapper::retain),
                same("mqtt.wildcard_subscription", "mqtt.wildcard-available", set("mqtt.wildcard-available", flag())),
                same("mqtt.shared_subscription", "mqtt.shared-available", set("mqtt.shared-available", flag())),
                new Rule<>(
                        "mqtt.shared_subscription_strategy",
                        Outcome.SAME,
                        "mqtt.shared-strategy",
                        "`sticky` and `round_robin_per_group` have no counterpart",
                        set("mqtt.shared-strategy", strategy())),
                none("mqtt.shared_subscription_initial_sticky_pick", "there is no strategy sticky"),
                same(
                        "mqtt.exclusive_subscription",
                        "mqtt.exclusive-subscriptions",
                        set("mqtt.exclusive-subscriptions", flag())),
                none("mqtt.ignore_loop_deliver", "clients of MQTT 5.0 use No Local"),
                none("mqtt.strict_mode", "packets are always checked as the standard requires"),
                same(
                        "mqtt.response_information",
                        "mqtt.response-information",
                        set("mqtt.response-information", text())),
                differs(
                        "mqtt.server_keepalive",
                        "mqtt.max-keep-alive",
                        "clients that ask for a shorter one get it",
                        EmqxMapper::keepAlive),
                none("mqtt.keepalive_multiplier", "one and a half times, as the standard requires"),
                none("mqtt.keepalive_backoff", "one and a half times, as the standard requires"),
                none("mqtt.keepalive_check_interval", "clients are disconnected when the time is over"),
                none(
                        "mqtt.retry_interval",
                        "messages are sent again when the client reconnects, as the standard requires"),
                same("mqtt.max_inflight", "limits.max-in-flight, limits.receive-maximum", EmqxMapper::inFlight),
                same(
                        "mqtt.max_awaiting_rel",
                        "limits.max-awaiting-release",
                        set("limits.max-awaiting-release", countOrAll(1, 65_535))),
                none("mqtt.await_rel_timeout", "a QoS 2 message waits for PUBREL until its session ends"),
                same(
                        "mqtt.max_mqueue_len",
                        "limits.max-queued-messages",
                        set("limits.max-queued-messages", countOrAll(1, MANY))),
                none("mqtt.mqueue_priorities*", "queues are in the order of arrival"),
                none("mqtt.mqueue_default_priority", "queues are in the order of arrival"),
                same("mqtt.mqueue_store_qos0", "session.queue-qos0", set("session.queue-qos0", flag())),
                same(
                        "mqtt.max_subscriptions",
                        "limits.max-subscriptions-per-client",
                        set("limits.max-subscriptions-per-client", countOrAll(1, 10_000_000))),
                none(
                        "mqtt.upgrade_qos",
                        "the lower QoS of publisher and subscription applies, as the standard requires"),
                differs(
                        "mqtt.session_expiry_interval",
                        "session.default-expiry",
                        "for clients before MQTT 5.0; others choose it, up to session.max-expiry",
                        set("session.default-expiry", duration(SECOND, 0, 4_294_967_295_000L))),
                none("mqtt.message_expiry_interval", "publish with a Message Expiry Interval"),
                differs(
                        "mqtt.idle_timeout",
                        "listeners.<name>.connect-timeout",
                        "the time from accepting a connection to its CONNECT",
                        EmqxMapper::idleTimeout),
                unguarded(
                        "mqtt.use_username_as_clientid",
                        "clients keep the identifier that they send; session.bind-to-user binds a session to its user"),
                new Rule<>(
                        "mqtt.peer_cert_as_username",
                        Outcome.SAME,
                        "listeners.<name>.tls.user-name",
                        "`cn` and `dn`; other values are not enforced. With authentication, add certificate to access.chain",
                        EmqxMapper::certificateUser),
                new Rule<>(
                        "mqtt.peer_cert_as_clientid",
                        Outcome.SAME,
                        "",
                        "not enforced, unless it is disabled: clients keep the identifier that they send; access.client-id",
                        EmqxMapper::certificateClient),
                none("mqtt.client_attrs_init*", "attributes come from authentication backends only"),
                none("mqtt.clientid_override", "clients keep the identifier that they send"),
                none("mqtt.*", "it is not a known key of EMQX"),
                unguarded("zones.*", ONE_ZONE));
    }

    private static List<Rule<EmqxMapper>> features() {
        return List.of(
                same("retainer.enable", "mqtt.retain-available", EmqxMapper::retain),
                same(
                        "retainer.backend.max_retained_messages",
                        "limits.max-retained-messages",
                        set("limits.max-retained-messages", countOrAll(1, MANY))),
                same("retainer.backend.storage_type", "storage.kind", EmqxMapper::stored),
                differs(
                        "retainer.max_payload_size",
                        "retained-policies.<name>.max-payload-bytes",
                        "a client of MQTT 5.0 gets 0x97 for a larger message at QoS 1 or 2, which is then not delivered either",
                        (mapper, setting) ->
                                mapper.retainedPolicy("max-payload-bytes", bytes(0, LARGEST_PAYLOAD), setting)),
                differs(
                        "retainer.msg_expiry_interval",
                        "retained-policies.<name>.expiry",
                        "of this and the Message Expiry Interval of the message the shorter one counts",
                        (mapper, setting) ->
                                mapper.retainedPolicy("expiry", duration(1_000, 0, LONGEST_EXPIRY_MILLIS), setting)),
                none("retainer.*", RETAINED),
                same("delayed.enable", "delayed.enabled", set("delayed.enabled", flag())),
                same(
                        "delayed.max_delayed_messages",
                        "delayed.max-messages",
                        set("delayed.max-messages", countOrAll(1, MANY))),
                same("rewrite.action", "topic-rewrites.<name>.action", taken()),
                same("rewrite.source_topic", "topic-rewrites.<name>.source-topic", taken()),
                same("rewrite.re", "topic-rewrites.<name>.re", taken()),
                same("rewrite.dest_topic", "topic-rewrites.<name>.dest-topic", taken()),
                same("auto_subscribe.topics.topic", "auto-subscriptions.<name>.topic", taken()),
                same("auto_subscribe.topics.qos", "auto-subscriptions.<name>.qos", taken()),
                same("auto_subscribe.topics.nl", "auto-subscriptions.<name>.no-local", taken()),
                same("auto_subscribe.topics.rap", "auto-subscriptions.<name>.retain-as-published", taken()),
                same("auto_subscribe.topics.rh", "auto-subscriptions.<name>.retain-handling", taken()),
                same("flapping_detect.enable", "access.bans.max-disconnects", taken()),
                same("flapping_detect.max_count", "access.bans.max-disconnects", taken()),
                same("flapping_detect.window_time", "access.bans.disconnect-window", taken()),
                same("flapping_detect.ban_time", "access.bans.disconnect-ban", taken()),
                differs(
                        "durable_sessions.enable",
                        "storage.kind",
                        "its data is not read; acknowledged messages are stored at once",
                        EmqxMapper::stored),
                none("durable_sessions.*", "its data is not read; acknowledged messages are stored at once"),
                none("durable_storage.*", "set storage.dir to a new directory; its data is not read"),
                none("session_persistence.*", "storage.kind: rocksdb stores sessions; the data is not read"),
                none("persistent_session_store.*", "storage.kind: rocksdb stores sessions; the data is not read"));
    }

    private static List<Rule<EmqxMapper>> operation() {
        return List.of(
                same("sys_topics.sys_msg_interval", "management.sys-interval", EmqxMapper::sysInterval),
                none("sys_topics.*", "the topics below $SYS are those of mosquitto"),
                differs(
                        "dashboard.listeners.http.bind",
                        "management.port",
                        "on loopback only; another address needs management.token-file and should have management.tls",
                        EmqxMapper::dashboard),
                none("dashboard.*", "users and keys of the management port are live objects: bin/smqtt ctl users"),
                none("api_key.*", "API keys of the management port are live objects: bin/smqtt ctl api-keys"),
                same("log.console.level", "logging.level", EmqxMapper::logLevel),
                none("log.*", LOG),
                none("node.name", CLUSTER),
                none("node.*", PROCESSES + "; storage.dir is the directory data beside the configuration"),
                none("cluster.*", CLUSTER),
                none("cluster_link*", "use bridges.<name>"),
                none("rpc.*", CLUSTER),
                none("broker.*", "not configurable"),
                none("prometheus.*", METRICS),
                none("opentelemetry.*", METRICS),
                none("telemetry.*", "there is no telemetry"),
                none("alarm.*", "alarms have thresholds of their own: management.alarms.*"),
                none("sysmon.*", PROCESSES),
                none("force_gc.*", PROCESSES),
                none("force_shutdown.*", PROCESSES),
                none("overload_protection.*", PROCESSES),
                none("conn_congestion.*", "limits.slow-consumer-timeout disconnects clients that read nothing"),
                none("tcp_keepalive.*", SOCKETS),
                none("stats.*", METRICS),
                none("limiter.*", "use listeners.<name>.max-publish-rate and limits.max-publish-rate"),
                none("slow_subs.*", "bin/smqtt top shows the longest queues"),
                none("trace.*", "bin/smqtt ctl trace"),
                none("topic_metrics*", "add the topics by the API: POST /mqtt/topic_metrics"),
                none("event_message.*", "mqtt.event-messages: true publishes events of clients and messages"),
                none("crl_cache.*", "revocation is not checked"),
                none("psk_authentication.*", "pre-shared keys are not supported; give clients certificates"),
                unguarded(
                        "exhook.*",
                        "hooks are not called; when embedded, use an Authenticator and a PublishInterceptor"),
                unguarded(
                        "plugins.*",
                        "plugins are not run; when embedded, use an Authenticator and a PublishInterceptor"),
                none("gateway.*", "MQTT only; gateways are left out"),
                none("rule_engine.*", "see rule-engine.*: the limits of rules are those of all of them"),
                unguarded("schema_validation.*", "add entries to validations, which check payloads by JSON Schema"),
                none("schema_registry.*", "add JSON Schemas to the folder of a validation, or by the API"),
                none("message_transformation.*", BY_RULE),
                none("file_transfer.*", "there is no file transfer"),
                none("multi_tenancy.*", "there are no name spaces; limits.user.* limits users"),
                none("mt.*", "there are no name spaces; limits.user.* limits users"),
                none("license.*", "the Apache License 2.0 needs no key"));
    }

    /** A value that is written by a step that needs several keys. */
    static BiConsumer<EmqxMapper, OldSetting> taken() {
        return (mapper, setting) -> {};
    }

    static BiConsumer<EmqxMapper, OldSetting> set(String key, EmqxValue value) {
        return (mapper, setting) -> mapper.set(key, value, setting);
    }

    private static BiConsumer<EmqxMapper, OldSetting> listener(String key, EmqxValue value) {
        return (mapper, setting) -> mapper.set(mapper.listeners().prefix(setting) + key, value, setting);
    }

    private static BiConsumer<EmqxMapper, OldSetting> lowest(String key, EmqxValue value) {
        return (mapper, setting) -> mapper.lowest(key, value, setting);
    }

    private static EmqxValue strategy() {
        return word(Map.of(
                "random", "random",
                "round_robin", "round-robin",
                "hash", "hash-client",
                "hash_clientid", "hash-client",
                "hash_topic", "hash-topic",
                "local", "local-first"));
    }

    /** The longest duration of most keys, in milliseconds. */
    static long day() {
        return DAY;
    }
}
