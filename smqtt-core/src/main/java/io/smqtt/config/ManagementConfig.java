// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The port for metrics, health and control: {@code smqtt.management.*}.
 *
 * @param host the address to bind to. An address that is not loopback needs {@code token-file}, and should have
 *     {@code tls}
 * @param port the port; 0 for any free port. It accepts 640 connections at a time, and closes a connection that
 *     sends no complete request within 10 s
 * @param tokenFile the file with the bearer token, at least 16 characters. Without it every local user can read the
 *     metrics and the list of cluster nodes; other requests need the token in the file {@code management.token} of the
 *     data directory
 * @param tls makes the port speak HTTPS; null for HTTP
 * @param allowedHosts names under which the port is reached, such as broker.example.com; requests with another name as
 *     Host or Origin are refused. Addresses, localhost and the name in {@code host} need not be listed. If the list is
 *     empty, a port on loopback refuses all names, any other port accepts all
 * @param usersFile the file of users that are read-only at the port, one {@code name:hash:role} for each line, with a
 *     hash of {@code smqtt passwd}. It is read again by SIGHUP
 * @param apiKeysFile the file of API keys that are read-only at the port, one {@code key:secret:role} for each line,
 *     or {@code $sha256$} and the SHA-256 in hexadecimal instead of the secret. It is read again by SIGHUP
 * @param bansFile the file of bans that are read-only at the port, one JSON object for each line, such as
 *     {@code {"as":"clientid","who":"pump-7","reason":"floods"}}. It is read again by SIGHUP
 * @param auditFile the file for the audit of logins, refused requests and changes: one line of JSON each. Default
 *     {@code audit.jsonl} in the data directory; without one the log
 * @param auditMaxBytes size of the audit file after which it is renamed and a new one begins
 * @param auditFiles maximum number of audit files
 * @param enabled false switches off metrics, the management port and the topics below {@code $SYS}
 * @param dashboard whether the management port serves the dashboard, a web page, at {@code /dashboard/}
 * @param sysInterval interval at which the topics below {@code $SYS/broker} are published, at least 100ms; never,
 *     or 0s, for none of them
 * @param alarms conditions that operators are told of
 * @param otlp metrics that are sent to an OpenTelemetry collector; null for none
 * @param influx metrics that are sent to InfluxDB; null for none
 * @param tracing traces that are sent to an OpenTelemetry collector, also without metrics; null for none
 */
@ConfigBlock("management")
public record ManagementConfig(
        @Setting("127.0.0.1") String host,
        @Setting(value = "18083", min = "0", max = "65535") int port,
        @Nullable Path tokenFile,
        @Nullable ManagementTlsConfig tls,
        List<String> allowedHosts,
        @Nullable Path usersFile,
        @Nullable Path apiKeysFile,
        @Nullable Path bansFile,
        @Nullable Path auditFile,

        @Setting(value = "10MiB", min = "64KiB", max = "1GiB")
        long auditMaxBytes,

        @Setting(value = "5", min = "1", max = "100") int auditFiles,
        @Setting("true") boolean enabled,
        @Setting("true") boolean dashboard,

        @Setting(value = "10s", min = "0s", max = "1d", zero = "never")
        Duration sysInterval,

        AlarmConfig alarms,
        @Nullable OtlpConfig otlp,
        @Nullable InfluxConfig influx,
        @Nullable TracingConfig tracing) {

    private static final Duration SHORTEST = Duration.ofMillis(100); // one update takes 0.2 ms of one core

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public ManagementConfig {
        Check.host("management.host", host);
        allowedHosts = List.copyOf(allowedHosts);
        Check.that(
                sysInterval.isZero() || sysInterval.compareTo(SHORTEST) >= 0,
                "management.sys-interval",
                "must be never or at least " + ConfigText.format(SHORTEST) + ", but is "
                        + ConfigText.format(sysInterval));
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static ManagementConfig defaults() {
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static ManagementConfigBuilder builder() {
        return new ManagementConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public ManagementConfigBuilder toBuilder() {
        return new ManagementConfigBuilder(this);
    }
}
