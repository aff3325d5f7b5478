// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Metrics sent to an OpenTelemetry collector: {@code smqtt.management.otlp.*}. Immutable.
 *
 * @param url where the collector takes metrics by HTTP
 * @param headers sent along, each as {@code name: value}; null for none
 * @param interval how often metrics are sent
 */
public record OtlpConfig(
        @ConfigDoc("the URL of an OpenTelemetry collector that receives metrics by HTTP, such as "
                + "`http://127.0.0.1:4318/v1/metrics`")
        String url,

        @ConfigDoc(value = "HTTP headers of the requests, each as `name: value`", secret = true) @Nullable
        List<String> headers,

        @ConfigDoc(value = "interval at which metrics are sent", fallback = "1m", min = "1s", max = "1h")
        Duration interval) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public OtlpConfig {
        Check.present("otlp.url", url);
        Check.httpUrl("otlp.url", url);
        headers = headers == null ? null : List.copyOf(headers);
        for (String header : headers == null ? List.<String>of() : headers) {
            Check.header("otlp.headers", header);
        }
        Check.range("otlp.interval", interval, Duration.ofSeconds(1), Duration.ofHours(1));
    }

    /**
     * Every minute, without headers.
     *
     * @param url where the collector takes metrics by HTTP
     * @return a configuration
     * @throws ConfigurationException if this is no URL of HTTP
     */
    public static OtlpConfig of(String url) {
        return new OtlpConfig(url, null, Duration.ofMinutes(1));
    }
}
