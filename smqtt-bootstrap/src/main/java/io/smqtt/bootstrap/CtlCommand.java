// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ManagementConfig;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Asks a running broker over its management port. */
@Command(name = "ctl", description = "Asks a running broker over its management port.")
final class CtlCommand implements Runnable {

    @Spec
    @Nullable
    CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "ask for what? cluster");
        }
    }

    /** Shows the nodes of a cluster. */
    @Command(
            name = "cluster",
            description = {
                "Shows the nodes of the cluster as one of them sees it: version, address, weight, routes,",
                "what is behind or waits, repairs. The broker is the one that the configuration describes,",
                "unless --url says otherwise."
            })
    static final class Cluster implements Callable<Integer> {

        private static final int PATIENCE_MILLIS = 10_000;

        private final Surroundings surroundings;

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

        @Option(names = "--json", description = "As JSON, for programs.")
        boolean json;

        Cluster(Surroundings surroundings) {
            this.surroundings = surroundings;
        }

        @Override
        public Integer call() {
            ManagementConfig management = options.load(surroundings).broker().management();
            String base = url == null ? "http://" + host(management.host()) + ":" + management.port() : url;
            Path token = tokenFile == null
                    ? management.tokenFile()
                    : surroundings.directory().resolve(tokenFile);
            try {
                return ask(URI.create(base.replaceAll("/+$", "") + "/cluster"), token);
            } catch (IOException | IllegalArgumentException e) {
                surroundings.err().println("smqtt: no answer from " + base + ": " + e.getMessage());
                return ExitCode.UNEXPECTED;
            }
        }

        /** Where a server that is bound to all addresses can be reached from here. */
        private static String host(String bound) {
            try {
                InetAddress address = InetAddress.getByName(bound);
                String reached = address.isAnyLocalAddress()
                        ? InetAddress.getLoopbackAddress().getHostAddress()
                        : bound;
                return reached.contains(":") && !reached.startsWith("[") ? "[" + reached + "]" : reached;
            } catch (IOException e) {
                return bound;
            }
        }

        private int ask(URI uri, @Nullable Path token) throws IOException {
            HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
            connection.setConnectTimeout(PATIENCE_MILLIS);
            connection.setReadTimeout(PATIENCE_MILLIS);
            connection.setRequestProperty("Accept", json ? "application/json" : "text/plain");
            if (token != null) {
                String secret = Files.readString(token, StandardCharsets.UTF_8).strip();
                connection.setRequestProperty("Authorization", "Bearer " + secret);
            }
            int status = connection.getResponseCode();
            boolean good = status == HttpURLConnection.HTTP_OK;
            try (var stream = good ? connection.getInputStream() : connection.getErrorStream()) {
                String body = stream == null ? "" : new String(stream.readAllBytes(), StandardCharsets.UTF_8);
                if (good) {
                    surroundings.out().print(body);
                    surroundings.out().flush();
                    return ExitCode.OK;
                }
                surroundings.err().println("smqtt: " + uri + " answered " + status + ": " + body.strip());
                return ExitCode.UNEXPECTED;
            }
        }
    }
}
