// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Traces of messages sent to an OpenTelemetry collector: {@code smqtt.management.tracing.*}. Immutable.
 *
 * @param url where the collector takes traces by HTTP
 * @param headers sent along, each as {@code name: value}; null for none
 * @param share of the messages that bring no {@code traceparent}, from 0 for none to 1 for all
 */
public record TracingConfig(
        @ConfigDoc("the URL of an OpenTelemetry collector that receives traces by HTTP, such as "
                + "`http://127.0.0.1:4318/v1/traces`")
        String url,

        @ConfigDoc(value = "HTTP headers of the requests, each as `name: value`", secret = true) @Nullable
        List<String> headers,

        @ConfigDoc(
                value = "the share of messages without a `traceparent` that is traced, 1 for all. For a message with a "
                        + "`traceparent` its own flag decides",
                fallback = "0.01",
                min = "0",
                max = "1")
        double share) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public TracingConfig {
        Check.present("tracing.url", url);
        Check.httpUrl("tracing.url", url);
        headers = headers == null ? null : List.copyOf(headers);
        for (String header : headers == null ? List.<String>of() : headers) {
            Check.header("tracing.headers", header);
        }
        Check.that(share >= 0 && share <= 1, "tracing.share", "must be 0 to 1, but is " + share);
    }

    /**
     * One message in a hundred, without headers.
     *
     * @param url where the collector takes traces by HTTP
     * @return a configuration
     * @throws ConfigurationException if this is no URL of HTTP
     */
    public static TracingConfig of(String url) {
        return new TracingConfig(url, null, 0.01);
    }
}
