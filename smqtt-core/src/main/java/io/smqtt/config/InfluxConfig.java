// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Metrics sent to InfluxDB: {@code smqtt.management.influx.*}. With {@code org} in the form of InfluxDB 2, else in that of
 * InfluxDB 1. Immutable.
 *
 * @param url where InfluxDB is
 * @param database of InfluxDB 1; made if it is not there
 * @param user of InfluxDB 1, or null
 * @param password of the user
 * @param org the organization of InfluxDB 2, or null for InfluxDB 1
 * @param bucket of InfluxDB 2
 * @param token of InfluxDB 2
 * @param interval how often metrics are sent
 */
public record InfluxConfig(
        @ConfigDoc("the URL of InfluxDB, such as `http://127.0.0.1:8086`")
        String url,

        @ConfigDoc(value = "the database of InfluxDB 1; created if it does not exist", fallback = "smqtt")
        String database,

        @ConfigDoc("the user of InfluxDB 1") @Nullable String user,

        @ConfigDoc(value = "the password of the user", secret = true) @Nullable
        String password,

        @ConfigDoc("the organization of InfluxDB 2, together with `bucket` and `token`; without it the protocol of "
                + "InfluxDB 1 is used")
        @Nullable
        String org,

        @ConfigDoc("the bucket of InfluxDB 2") @Nullable String bucket,

        @ConfigDoc(value = "the token of InfluxDB 2", secret = true) @Nullable
        String token,

        @ConfigDoc(value = "interval at which metrics are sent", fallback = "1m", min = "1s", max = "1h")
        Duration interval) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public InfluxConfig {
        Check.present("influx.url", url);
        Check.httpUrl("influx.url", url);
        Check.that(!database.isBlank(), "influx.database", "must not be empty");
        Check.together(new String[] {"influx.user", "influx.password"}, user, password);
        Check.together(new String[] {"influx.org", "influx.bucket", "influx.token"}, org, bucket, token);
        Check.that(org == null || user == null, "influx.user", "is for InfluxDB 1, and influx.org for InfluxDB 2");
        if (password != null) {
            Check.plainText("influx.password", password);
        }
        if (token != null) {
            Check.plainText("influx.token", token);
        }
        Check.range("influx.interval", interval, Duration.ofSeconds(1), Duration.ofHours(1));
    }

    /**
     * InfluxDB 1 without users: every minute, to the database {@code smqtt}.
     *
     * @param url where InfluxDB is
     * @return a configuration
     * @throws ConfigurationException if this is no URL of HTTP
     */
    public static InfluxConfig of(String url) {
        return new InfluxConfig(url, "smqtt", null, null, null, null, null, Duration.ofMinutes(1));
    }
}
