// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Metrics that are sent to an OpenTelemetry collector: {@code smqtt.management.otlp.*}. Immutable.
 *
 * @param url the URL of an OpenTelemetry collector that receives metrics by HTTP, such as
 *     {@code http://127.0.0.1:4318/v1/metrics}
 * @param headers HTTP headers of the requests, each as {@code name: value}
 * @param interval interval at which metrics are sent
 */
@ConfigBlock("otlp")
public record OtlpConfig(
        @Setting(required = true) String url,
        @Setting(secret = true) @Nullable List<String> headers,
        @Setting(value = "1m", min = "1s", max = "1h") Duration interval) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public OtlpConfig {
        Check.httpUrl("otlp.url", url);
        headers = headers == null ? null : List.copyOf(headers);
        for (String header : headers == null ? List.<String>of() : headers) {
            Check.header("otlp.headers", header);
        }
    }

    /**
     * Creates a configuration that sends every minute, without headers.
     *
     * @param url the URL of a collector that receives metrics by HTTP
     * @return a configuration
     * @throws ConfigurationException if this is not an HTTP URL
     */
    public static OtlpConfig of(String url) {
        return new OtlpConfigBuilder().url(url).build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public OtlpConfigBuilder toBuilder() {
        return new OtlpConfigBuilder(this);
    }
}
