// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.admin.Overview;
import io.smqtt.admin.Scrape;
import java.io.IOException;
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
        description = "Shows live figures of a running broker: rates, clients, drops, event loops, store. Ctrl-C "
                + "ends it. It asks the broker of the configuration, or the one of --url.")
final class TopCommand implements Callable<Integer> {

    private static final double LEAST_SECONDS = 0.1;

    /** Goes to the first line and column, and clears the screen from there on. */
    private static final String HOME = "\033[H\033[J";

    private final ProgramContext program;
    private final CountDownLatch stop = new CountDownLatch(1);

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    ConfigOptions options = new ConfigOptions();

    @Mixin
    ManagementOptions management = new ManagementOptions();

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            description = "Sets the seconds between two screens, 0.1 or more. The default is 2.")
    double intervalSeconds = 2;

    @Option(
            names = "--count",
            paramLabel = "COUNT",
            description = "Ends after this number of screens. The default is 0: no limit.")
    int count;

    TopCommand(ProgramContext program) {
        this.program = program;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (spec != null && !(intervalSeconds >= LEAST_SECONDS)) {
            throw new ParameterException(spec.commandLine(), "--interval must be 0.1 or more");
        }
        ManagementClient client = management.client(options, program);
        program.signals().onStop(stop::countDown);
        try {
            show(client);
            return ExitCode.OK;
        } catch (TokenFileException e) {
            program.err().println("smqtt: " + e.getMessage());
            return ExitCode.UNEXPECTED;
        } catch (IOException e) {
            program.err().println("smqtt: no metrics from " + client.base() + ": " + e.getMessage());
            return ExitCode.UNEXPECTED;
        }
    }

    private void show(ManagementClient client) throws IOException, InterruptedException {
        boolean terminal = System.console() != null;
        long intervalNanos = (long) (intervalSeconds * 1e9);
        Scrape before = ask(client);
        int shown = 0;
        while (!stop.await(intervalNanos, TimeUnit.NANOSECONDS)) {
            Scrape now = ask(client);
            String screen = Overview.of(before, now).text(client.base());
            program.out().print((terminal ? HOME : "") + screen + (terminal ? "" : "\n"));
            program.out().flush();
            before = now;
            if (++shown == count) {
                return;
            }
        }
    }

    private Scrape ask(ManagementClient client) throws IOException {
        Scrape scrape = Scrape.parse(
                client.get("/metrics", "text/plain"), program.nanoTime().getAsLong());
        if (!scrape.has("smqtt_sessions_active")) {
            throw new IOException("whatever answers there is no smqtt");
        }
        return scrape;
    }
}
