// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
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
            throw new ParameterException(
                    spec.commandLine(), "ask for what? clients, client, disconnect, explain or cluster");
        }
    }

    /** What all of them have: whom to ask, and how to show the answer. */
    abstract static class Question implements Callable<Integer> {

        private final Surroundings surroundings;

        @Mixin
        ConfigOptions options = new ConfigOptions();

        @Mixin
        ManagementOptions management = new ManagementOptions();

        @Option(names = "--json", description = "Shows the answer as JSON, for programs.")
        boolean json;

        Question(Surroundings surroundings) {
            this.surroundings = surroundings;
        }

        abstract String path();

        String method() {
            return "GET";
        }

        @Override
        public Integer call() {
            ManagementClient client = management.client(options, surroundings);
            try {
                String answer = client.ask(method(), path(), json ? "application/json" : "text/plain");
                surroundings.out().print(answer + (answer.endsWith("\n") ? "" : "\n"));
                surroundings.out().flush();
                return ExitCode.OK;
            } catch (RefusedException e) {
                surroundings.err().println("smqtt: " + client.base() + " says: " + e.text());
                return ExitCode.UNEXPECTED;
            } catch (TokenFileException e) {
                surroundings.err().println("smqtt: " + e.getMessage());
                return ExitCode.UNEXPECTED;
            } catch (IOException e) {
                surroundings.err().println("smqtt: no answer from " + client.base() + ": " + e.getMessage());
                return ExitCode.UNEXPECTED;
            }
        }

        static String encoded(String value) {
            return URLEncoder.encode(value, StandardCharsets.UTF_8);
        }
    }

    /** Shows the nodes of a cluster. */
    @Command(
            name = "cluster",
            description = "Shows the nodes of the cluster as one of them sees it: version, address, weight, "
                    + "routes, what is behind or waits, repairs. The broker is the one that the configuration "
                    + "describes, unless --url says otherwise.")
    static final class Cluster extends Question {

        Cluster(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        String path() {
            return "/cluster";
        }
    }

    /** Lists sessions. */
    @Command(
            name = "clients",
            description = "Lists the sessions of a broker, connected or not; in a cluster those of one node.")
    static final class Clients extends Question {

        @Option(names = "--match", paramLabel = "TEXT", description = "Shows only identifiers that contain this text.")
        String match = "";

        @Option(
                names = "--limit",
                paramLabel = "COUNT",
                description = "Shows so many at most, up to 10000. The default is 100.")
        int limit = 100;

        Clients(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        String path() {
            return "/broker/clients?limit=" + limit + "&match=" + encoded(match);
        }
    }

    /** Shows one session. */
    @Command(
            name = "client",
            description =
                    "Shows one session: connection, expiry, subscriptions, queue; in a cluster that of one " + "node.")
    static final class Client extends Question {

        @Parameters(paramLabel = "ID", description = "Names the client by its identifier.")
        String id = "";

        Client(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        String path() {
            return "/broker/client?id=" + encoded(id);
        }
    }

    /** Ends a connection. */
    @Command(
            name = "disconnect",
            description = "Ends a client's connection (reason code 0x98). Its session lives on as its expiry says.")
    static final class Disconnect extends Question {

        @Parameters(paramLabel = "ID", description = "Names the client by its identifier.")
        String id = "";

        Disconnect(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        String method() {
            return "POST";
        }

        @Override
        String path() {
            return "/broker/disconnect?id=" + encoded(id);
        }
    }

    /** Explains what would become of a message. */
    @Command(
            name = "explain",
            description = "Says what would become of a message of QoS 1, and publishes none: filters that match, "
                    + "who would get it, who may not, what is queued, which other nodes it goes to.")
    static final class Explain extends Question {

        @Parameters(paramLabel = "TOPIC", description = "Names the topic, without wildcards.")
        String topic = "";

        @Option(
                names = "--client",
                paramLabel = "ID",
                description =
                        "Says who would publish it. The default is the broker itself, which may publish everything.")
        @Nullable
        String client;

        Explain(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        String path() {
            String publisher = client;
            return "/broker/explain?topic=" + encoded(topic)
                    + (publisher == null ? "" : "&client=" + encoded(publisher));
        }
    }
}
