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
@Command(name = "ctl", description = "Inspects a running broker through its management port.")
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

    /** Options that all {@code ctl} commands share: which broker to ask, and how to print the answer. */
    abstract static class Question implements Callable<Integer> {

        private final ProgramContext program;

        @Mixin
        ConfigOptions options = new ConfigOptions();

        @Mixin
        ManagementOptions management = new ManagementOptions();

        @Option(names = "--json", description = "Prints JSON, for scripts.")
        boolean json;

        Question(ProgramContext program) {
            this.program = program;
        }

        abstract String path();

        String method() {
            return "GET";
        }

        @Override
        public Integer call() {
            ManagementClient client = management.client(options, program);
            try {
                String answer = client.ask(method(), path(), json ? "application/json" : "text/plain");
                program.out().print(answer + (answer.endsWith("\n") ? "" : "\n"));
                program.out().flush();
                return ExitCode.OK;
            } catch (RefusedException e) {
                program.err().println("smqtt: " + client.base() + " says: " + e.text());
                return ExitCode.UNEXPECTED;
            } catch (TokenFileException e) {
                program.err().println("smqtt: " + e.getMessage());
                return ExitCode.UNEXPECTED;
            } catch (IOException e) {
                program.err().println("smqtt: no answer from " + client.base() + ": " + e.getMessage());
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
            description = "Shows the nodes of the cluster as one node sees them: version, address, weight, routes, "
                    + "pending frames, repairs. It asks the broker of the configuration, or the one of --url.")
    static final class Cluster extends Question {

        Cluster(ProgramContext program) {
            super(program);
        }

        @Override
        String path() {
            return "/cluster";
        }
    }

    /** Lists sessions. */
    @Command(
            name = "clients",
            description = "Lists the sessions of a broker, online and offline; in a cluster those of one node.")
    static final class Clients extends Question {

        @Option(
                names = "--match",
                paramLabel = "TEXT",
                description = "Shows only clients whose identifier contains this text.")
        String match = "";

        @Option(
                names = "--limit",
                paramLabel = "COUNT",
                description = "Limits the number of sessions, up to 10000. The default is 100.")
        int limit = 100;

        Clients(ProgramContext program) {
            super(program);
        }

        @Override
        String path() {
            return "/broker/clients?limit=" + limit + "&match=" + encoded(match);
        }
    }

    /** Shows one session. */
    @Command(
            name = "client",
            description = "Shows one session: connection, expiry, subscriptions, queue; in a cluster that of one node.")
    static final class Client extends Question {

        @Parameters(paramLabel = "ID", description = "Is the client identifier.")
        String id = "";

        Client(ProgramContext program) {
            super(program);
        }

        @Override
        String path() {
            return "/broker/client?id=" + encoded(id);
        }
    }

    /** Ends a connection. */
    @Command(
            name = "disconnect",
            description = "Disconnects a client (reason code 0x98). Its session ends when it expires.")
    static final class Disconnect extends Question {

        @Parameters(paramLabel = "ID", description = "Is the client identifier.")
        String id = "";

        Disconnect(ProgramContext program) {
            super(program);
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
            description = "Shows what would happen to a message of QoS 1, without publishing one: matching filters, "
                    + "receivers, denied receivers, queues, other nodes.")
    static final class Explain extends Question {

        @Parameters(paramLabel = "TOPIC", description = "Is the topic name, without wildcards.")
        String topic = "";

        @Option(
                names = "--client",
                paramLabel = "ID",
                description =
                        "Is the client that would publish it. The default is the broker itself, which may publish "
                                + "everything.")
        @Nullable
        String client;

        Explain(ProgramContext program) {
            super(program);
        }

        @Override
        String path() {
            String publisher = client;
            return "/broker/explain?topic=" + encoded(topic)
                    + (publisher == null ? "" : "&client=" + encoded(publisher));
        }
    }
}
