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
        @ConfigDoc("where InfluxDB is, such as `http://127.0.0.1:8086`")
        String url,

        @ConfigDoc(value = "the database of InfluxDB 1, which is made if it is not there", fallback = "smqtt")
        String database,

        @ConfigDoc("the user of InfluxDB 1") @Nullable String user,

        @ConfigDoc(value = "the user's password", secret = true) @Nullable
        String password,

        @ConfigDoc(
                "the organization of InfluxDB 2, which also needs `bucket` and `token`; without it the form is that of InfluxDB 1")
        @Nullable
        String org,

        @ConfigDoc("the bucket of InfluxDB 2") @Nullable String bucket,

        @ConfigDoc(value = "the token of InfluxDB 2", secret = true) @Nullable
        String token,

        @ConfigDoc(value = "how often metrics are sent", fallback = "1m", min = "1s", max = "1h")
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
        Check.that(
                (user == null) == (password == null), "influx.user", "and influx.password are set together, or none");
        Check.that(
                (org == null) == (bucket == null) && (org == null) == (token == null),
                "influx.org",
                "and influx.bucket and influx.token are set together, or none");
        Check.that(org == null || user == null, "influx.user", "is for InfluxDB 1, and influx.org for InfluxDB 2");
        for (String secret : new String[] {password, token}) {
            if (secret != null) {
                Check.plainText("influx.token or influx.password", secret);
            }
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
