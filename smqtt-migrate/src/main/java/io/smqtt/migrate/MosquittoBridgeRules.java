// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;
import static io.smqtt.migrate.Rule.unguarded;

import java.util.List;

/** The keys of bridges in mosquitto.conf. */
final class MosquittoBridgeRules {

    private static final String NO_PSK =
            "pre-shared keys are not supported, because TLS of Java has none: the bridge is written with enabled: false";

    private MosquittoBridgeRules() {}

    static List<Rule<MosquittoMapper>> all() {
        return List.of(
                same("connection", "bridges.<name>", MosquittoMapper::connection),
                bridge("address", "addresses"),
                bridge("addresses", "addresses"),
                bridge("topic", "topics"),
                bridge("remote_clientid", "client-id"),
                bridge("clientid", "client-id"),
                bridge("remote_username", "username"),
                bridge("username", "username"),
                new Rule<>(
                        "remote_password",
                        Outcome.SAME,
                        "bridges.<name>.password-file",
                        "written to a file for its owner only",
                        MosquittoMapper::ofBridge),
                new Rule<>(
                        "password",
                        Outcome.SAME,
                        "bridges.<name>.password-file",
                        "written to a file for its owner only",
                        MosquittoMapper::ofBridge),
                bridge("bridge_protocol_version", "version"),
                bridge("try_private", "try-private"),
                bridge("cleansession", "clean-start"),
                bridge("keepalive_interval", "keep-alive"),
                bridge("restart_timeout", "min-delay, bridges.<name>.max-delay"),
                bridge("round_robin", "round-robin"),
                bridge("idle_timeout", "idle-timeout"),
                bridge("threshold", "threshold"),
                new Rule<>(
                        "start_type",
                        Outcome.SAME,
                        "bridges.<name>.start",
                        "`lazy` becomes `automatic` if there are topics that come in",
                        MosquittoMapper::ofBridge),
                differs(
                        "local_username",
                        "bridges.<name>.local-user",
                        "access rules apply to the bridge as this user; mosquitto 2.0 and 2.1 apply no acl_file to a bridge: let the rules allow "
                                + "its topics, or remove the key",
                        MosquittoMapper::ofBridge),
                none("local_password", "a bridge has no password here"),
                none("local_clientid", "a bridge is the client $bridge/<name> here"),
                none("local_cleansession", "the session here does not end with the connection"),
                bridge("notifications", "notifications"),
                bridge("notifications_local_only", "notifications"),
                bridge("notification_topic", "notification-topic"),
                bridge("bridge_cafile", "tls.ca"),
                bridge("bridge_certfile", "tls.certificate"),
                bridge("bridge_keyfile", "tls.key"),
                bridge("bridge_alpn", "tls.alpn"),
                bridge("bridge_insecure", "tls.verify-host"),
                differs(
                        "bridge_tls_use_os_certs",
                        "bridges.<name>.addresses",
                        "TLS with the authorities of the Java runtime",
                        MosquittoMapper::ofBridge),
                new Rule<>(
                        "bridge_capath",
                        Outcome.SAME,
                        "bridges.<name>.tls.ca",
                        "`ca-certificates.crt` in the directory, if there is one; else the bridge is off until tls.ca names one file",
                        MosquittoMapper::ofBridge),
                bridge("bridge_tls_version", "tls.min-version"),
                new Rule<>(
                        "bridge_ciphers",
                        Outcome.SAME,
                        "bridges.<name>.tls.ciphers",
                        "by their standard names; groups such as HIGH, and suites that the Java runtime does not have, are reported",
                        MosquittoMapper::ofBridge),
                bridge("bridge_ciphers_tls1.3", "tls.ciphers"),
                none("bridge_identity", NO_PSK),
                new Rule<>("bridge_psk", Outcome.NONE, "", NO_PSK, MosquittoMapper::ofBridge),
                unguarded("bridge_require_ocsp", "revocation is not checked"),
                bridge("bridge_max_packet_size", "max-packet-bytes"),
                bridge("bridge_receive_maximum", "receive-maximum"),
                bridge("bridge_session_expiry_interval", "session-expiry"),
                bridge(
                        "bridge_tcp_keepalive",
                        "tcp-keep-alive-idle, bridges.<name>.tcp-keep-alive-interval, bridges.<name>.tcp-keep-alive-count"),
                bridge("bridge_tcp_user_timeout", "tcp-user-timeout"),
                new Rule<>(
                        "bridge_bind_address",
                        Outcome.SAME,
                        "bridges.<name>.bind-address",
                        "an IP address; a name has no counterpart",
                        MosquittoMapper::ofBridge),
                bridge("bridge_outgoing_retain", "outgoing-retain"),
                none(
                        "bridge_attempt_unsubscribe",
                        "topics that are no longer configured are unsubscribed there, and no others"),
                none(
                        "bridge_reload_type",
                        "certificates and passwords are read again on SIGHUP, other changes need a restart"),
                none("bridge_max_topic_alias", "the other broker is not offered topic aliases"),
                none("bridge_*", "not configurable"));
    }

    private static Rule<MosquittoMapper> bridge(String key, String ours) {
        return same(key, "bridges.<name>." + ours, MosquittoMapper::ofBridge);
    }
}
