// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
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

        private final Surroundings surroundings;

        @Mixin
        ConfigOptions options = new ConfigOptions();

        @Mixin
        ManagementOptions management = new ManagementOptions();

        @Option(names = "--json", description = "As JSON, for programs.")
        boolean json;

        Cluster(Surroundings surroundings) {
            this.surroundings = surroundings;
        }

        @Override
        public Integer call() {
            ManagementClient client = management.client(options, surroundings);
            try {
                surroundings.out().print(client.get("/cluster", json ? "application/json" : "text/plain"));
                surroundings.out().flush();
                return ExitCode.OK;
            } catch (IOException e) {
                surroundings.err().println("smqtt: no answer from " + client.base() + ": " + e.getMessage());
                return ExitCode.UNEXPECTED;
            }
        }
    }
}
