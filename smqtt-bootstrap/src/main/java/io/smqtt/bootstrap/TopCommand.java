// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ManagementConfig;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows over and over how a running broker does, from the metrics of its management port. */
@Command(
        name = "top",
        description = {
            "Shows how a running broker does: rates, clients, drops, event loops, store. Ends with Ctrl-C.",
            "The broker is the one that the configuration describes, unless --url says otherwise."
        })
final class TopCommand implements Callable<Integer> {

    private static final int PATIENCE_MILLIS = 10_000;
    private static final double LEAST_SECONDS = 0.1;

    /** Goes to the first line and column, and clears the screen from there on. */
    private static final String HOME = "\033[H\033[J";

    private final Surroundings surroundings;
    private final CountDownLatch stop = new CountDownLatch(1);

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    ConfigOptions options = new ConfigOptions();

    @Nullable
    @Option(names = "--url", paramLabel = "URL", description = "The management port, e.g. http://127.0.0.1:18083.")
    String url;

    @Nullable
    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "Holds the token. Default: management.token-file.")
    String tokenFile;

    @Option(names = "--interval", paramLabel = "SECONDS", description = "Between two looks, 0.1 or more. Default: 2.")
    double intervalSeconds = 2;

    @Option(names = "--count", paramLabel = "COUNT", description = "Ends after so many screens. Default: 0, goes on.")
    int count;

    TopCommand(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (spec != null && !(intervalSeconds >= LEAST_SECONDS)) {
            throw new ParameterException(spec.commandLine(), "--interval must be 0.1 or more");
        }
        ManagementConfig management = options.load(surroundings).broker().management();
        String base = url == null ? "http://" + host(management.host()) + ":" + management.port() : url;
        Path token = tokenFile == null
                ? management.tokenFile()
                : surroundings.directory().resolve(tokenFile);
        surroundings.signals().onStop(stop::countDown);
        try {
            show(base, URI.create(base.replaceAll("/+$", "") + "/metrics"), token);
            return ExitCode.OK;
        } catch (IOException | IllegalArgumentException e) {
            surroundings.err().println("smqtt: no metrics from " + base + ": " + e.getMessage());
            return ExitCode.UNEXPECTED;
        }
    }

    /** Where a server that is bound to all addresses can be reached from here. */
    private static String host(String bound) {
        String reached = bound;
        try {
            InetAddress address = InetAddress.getByName(bound);
            reached = address.isAnyLocalAddress()
                    ? InetAddress.getLoopbackAddress().getHostAddress()
                    : bound;
        } catch (UnknownHostException e) {
            return bound; // which the connection will tell
        }
        return reached.contains(":") && !reached.startsWith("[") ? "[" + reached + "]" : reached;
    }

    private void show(String base, URI uri, @Nullable Path token) throws IOException, InterruptedException {
        boolean terminal = System.console() != null;
        long intervalNanos = (long) (intervalSeconds * 1e9);
        Scrape before = ask(uri, token);
        int shown = 0;
        while (!stop.await(intervalNanos, TimeUnit.NANOSECONDS)) {
            Scrape now = ask(uri, token);
            surroundings.out().print((terminal ? HOME : "") + TopScreen.of(base, before, now) + (terminal ? "" : "\n"));
            surroundings.out().flush();
            before = now;
            if (++shown == count) {
                return;
            }
        }
    }

    private Scrape ask(URI uri, @Nullable Path token) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
        connection.setConnectTimeout(PATIENCE_MILLIS);
        connection.setReadTimeout(PATIENCE_MILLIS);
        if (token != null) {
            String secret = Files.readString(token, StandardCharsets.UTF_8).strip();
            connection.setRequestProperty("Authorization", "Bearer " + secret);
        }
        int status = connection.getResponseCode();
        boolean good = status == HttpURLConnection.HTTP_OK;
        try (var stream = good ? connection.getInputStream() : connection.getErrorStream()) {
            String body = stream == null ? "" : new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            if (!good) {
                throw new IOException("it answered " + status + ": " + body.strip());
            }
            Scrape scrape = Scrape.parse(body, surroundings.nanoTime().getAsLong());
            if (!scrape.has("smqtt_sessions_active")) {
                throw new IOException("whatever answers there is no smqtt");
            }
            return scrape;
        }
    }
}
