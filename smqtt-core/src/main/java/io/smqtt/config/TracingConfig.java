// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Traces of messages that are sent to an OpenTelemetry collector: {@code smqtt.management.tracing.*}. Immutable.
 *
 * @param url the URL of an OpenTelemetry collector that receives traces by HTTP, such as
 *     {@code http://127.0.0.1:4318/v1/traces}
 * @param headers HTTP headers of the requests, each as {@code name: value}
 * @param share the share of messages without a {@code traceparent} that is traced, 1 for all. For a message with a
 *     {@code traceparent} its own flag decides
 */
@ConfigBlock("tracing")
public record TracingConfig(
        @Setting(required = true) String url,
        @Setting(secret = true) @Nullable List<String> headers,
        @Setting(value = "0.01", min = "0", max = "1") double share) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public TracingConfig {
        Check.httpUrl("tracing.url", url);
        headers = headers == null ? null : List.copyOf(headers);
        for (String header : headers == null ? List.<String>of() : headers) {
            Check.header("tracing.headers", header);
        }
    }

    /**
     * Creates a configuration that traces one message in a hundred, without headers.
     *
     * @param url the URL of a collector that receives traces by HTTP
     * @return a configuration
     * @throws ConfigurationException if this is not an HTTP URL
     */
    public static TracingConfig of(String url) {
        return new TracingConfigBuilder().url(url).build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public TracingConfigBuilder toBuilder() {
        return new TracingConfigBuilder(this);
    }
}
