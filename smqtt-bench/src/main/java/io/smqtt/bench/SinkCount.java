// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How many messages the actions of a rule have written, by {@code smqtt_rule_success_total} of the broker's metrics. Blocks. */
final class SinkCount {

    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI metrics;
    private final String rule;
    private final Pattern row;

    /**
     * Reads the metrics of a broker.
     *
     * @param management the address of its management listener, {@code http://HOST:PORT}
     * @param rule the name of the rule
     */
    SinkCount(String management, String rule) {
        try {
            this.metrics = URI.create(management.replaceAll("/+$", "") + "/metrics");
        } catch (IllegalArgumentException e) {
            throw new WrongUsage("--metrics " + management + ": must be http://HOST:PORT");
        }
        ConnectionOptions.check(
                "http".equals(metrics.getScheme()) && metrics.getHost() != null,
                "--metrics " + management + ": must be http://HOST:PORT");
        this.rule = rule;
        this.row = Pattern.compile(
                "(?m)^smqtt_rule_success_total\\{[^}]*\\brule=\"" + Pattern.quote(rule) + "\"[^}]*} ([0-9.Ee+]+)");
    }

    /** The messages that all actions of the rule have written since the broker has started. */
    long read() {
        Matcher found = row.matcher(text());
        long sum = 0;
        boolean any = false;
        while (found.find()) {
            any = true;
            sum += (long) Double.parseDouble(found.group(1));
        }
        if (!any) {
            throw new LoadFailure(metrics + " has no smqtt_rule_success_total of a rule " + rule);
        }
        return sum;
    }

    private String text() {
        try {
            HttpResponse<String> answer = http.send(
                    HttpRequest.newBuilder(metrics).timeout(ANSWER).build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new LoadFailure(metrics + " answers with status " + answer.statusCode());
            }
            return answer.body();
        } catch (IOException e) {
            throw new LoadFailure(metrics + " does not answer: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LoadFailure(metrics + ": interrupted");
        }
    }

    /**
     * Waits until so many messages are written.
     *
     * @param wanted the value of {@link #read} that is waited for
     * @param patience the longest time
     * @param ended whether to give up
     * @return the last value
     */
    long await(long wanted, Duration patience, BooleanSupplier ended) {
        long until = System.nanoTime() + patience.toNanos();
        long count = read();
        while (count < wanted && System.nanoTime() - until < 0 && !ended.getAsBoolean()) {
            LockSupport.parkNanos(POLL_NANOS);
            count = read();
        }
        return count;
    }
}
