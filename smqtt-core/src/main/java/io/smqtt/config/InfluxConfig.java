// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Metrics that are sent to InfluxDB: {@code smqtt.management.influx.*}. With {@code org} the protocol of InfluxDB 2 is used, else that
 * of InfluxDB 1. Immutable.
 *
 * @param url the URL of InfluxDB, such as {@code http://127.0.0.1:8086}
 * @param database the database of InfluxDB 1; created if it does not exist
 * @param user the user of InfluxDB 1
 * @param password the password of the user
 * @param org the organization of InfluxDB 2, together with {@code bucket} and {@code token}; without it the
 *     protocol of InfluxDB 1 is used
 * @param bucket the bucket of InfluxDB 2
 * @param token the token of InfluxDB 2
 * @param interval interval at which metrics are sent
 */
@ConfigBlock("influx")
public record InfluxConfig(
        @Setting(required = true) String url,
        @Setting("smqtt") String database,
        @Nullable String user,
        @Setting(secret = true) @Nullable String password,
        @Nullable String org,
        @Nullable String bucket,
        @Setting(secret = true) @Nullable String token,
        @Setting(value = "1m", min = "1s", max = "1h") Duration interval) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public InfluxConfig {
        Check.httpUrl("influx.url", url);
        Check.that(!database.isBlank(), "influx.database", "must not be empty");
        Check.together(new String[] {"influx.user", "influx.password"}, user, password);
        Check.together(new String[] {"influx.org", "influx.bucket", "influx.token"}, org, bucket, token);
        Check.that(org == null || user == null, "influx.user", "is for InfluxDB 1, but influx.org is for InfluxDB 2");
        if (password != null) {
            Check.plainText("influx.password", password);
        }
        if (token != null) {
            Check.plainText("influx.token", token);
        }
    }

    /**
     * Creates a configuration for InfluxDB 1 without users: every minute, to the database {@code smqtt}.
     *
     * @param url the URL of InfluxDB
     * @return a configuration
     * @throws ConfigurationException if this is not an HTTP URL
     */
    public static InfluxConfig of(String url) {
        return new InfluxConfigBuilder().url(url).build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public InfluxConfigBuilder toBuilder() {
        return new InfluxConfigBuilder(this);
    }
}
