// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Computes connections and messages per second from devices and their actions per hour, and runs that load. */
@Command(name = "size", description = "Computes a load from devices and their actions, and runs it with --run.")
final class SizeCommand extends LoadCommand {

    @Option(names = "--devices", required = true, description = "Number of devices.")
    int devices;

    @Option(names = "--online", description = "Percentage of devices connected at once. Default: ${DEFAULT-VALUE}.")
    double onlinePercent = 100;

    @Option(names = "--actions-per-hour", required = true, description = "Actions of one device in an hour.")
    double actionsPerHour;

    @Option(names = "--messages-per-action", description = "Default: ${DEFAULT-VALUE}.")
    double messagesPerAction = 1;

    @Option(names = "--consumers", description = "Backend clients that share the messages. Default: ${DEFAULT-VALUE}.")
    int consumers = 10;

    @Option(
            names = "--commands-per-hour",
            description = "Messages to one device in an hour. Default: ${DEFAULT-VALUE}.")
    double commandsPerHour;

    @Option(
            names = "--peak-factor",
            description = "Load at the busiest time, relative to the mean. Default: ${DEFAULT-VALUE}.")
    double peakFactor = 3;

    @Option(names = "--scale", description = "Fraction of the plan to run, such as 0.1. Default: as open files allow.")
    @Nullable
    Double scale;

    @Option(names = "--run", description = "Runs the peak load: reports of devices, and commands to them.")
    boolean runs;

    @Option(
            names = {"-q", "--qos"},
            description = "0, 1 or 2. Default: ${DEFAULT-VALUE}.")
    int qos = 1;

    @Option(
            names = {"-s", "--size"},
            description = "Payload bytes, at least 16. Default: ${DEFAULT-VALUE}.")
    int payloadBytes = 256;

    SizeCommand(PrintStream out, PrintStream err, Interruption interruption) {
        super(out, err, interruption);
    }

    @Override
    @Nullable
    LoadResult load(Watch watch) {
        check(devices > 0 && devices <= 100_000_000, "--devices: 1 to 100000000");
        check(onlinePercent > 0 && onlinePercent <= 100, "--online: more than 0, up to 100 percent");
        check(
                actionsPerHour > 0 && messagesPerAction > 0 && peakFactor >= 1 && commandsPerHour >= 0,
                "--actions-per-hour and --messages-per-action must be positive, --peak-factor at least 1");
        check(consumers > 0, "--consumers: at least 1");
        check(scale == null || scale > 0 && scale <= 1, "--scale: more than 0, up to 1");
        BusinessSizing whole = new BusinessSizing(
                devices,
                onlinePercent / 100,
                actionsPerHour,
                messagesPerAction,
                consumers,
                commandsPerHour,
                peakFactor);
        print("The plan", whole);
        double share = scale != null ? scale : runs ? fitting(whole) : 1;
        BusinessSizing part = share < 1 ? whole.scaled(share) : whole;
        if (share < 1) {
            print("At scale " + share, part);
        }
        if (!runs) {
            out.println("Add --run to run it" + (share < 1 ? "." : ", and --scale 0.1 for a tenth of it."));
            return null;
        }
        LoadSettings settings = MessageRules.checked(new LoadSettings(
                qos,
                payloadBytes,
                false,
                List.of(),
                part.peakUp() + part.peakDown(),
                0,
                32,
                0,
                Duration.ZERO,
                run.duration,
                run.drain));
        if (!limitsClients()) {
            run.maxClients = Math.max(run.maxClients, part.connections());
        }
        run.require(part.connections());
        return runPlan(part.plan(connection.prefix, qos), connection.target(), settings, watch, false);
    }

    /** Returns the whole load, or as much as open files allow, with a message. */
    private double fitting(BusinessSizing whole) {
        int room = DescriptorLimit.room(run.pid);
        String reason = DescriptorLimit.roomText(run.pid);
        String more =
                "Start with `ulimit -n " + (whole.connections() + DescriptorLimit.RESERVE) + "` to run all of it.";
        if (limitsClients() && run.maxClients < room) {
            room = run.maxClients;
            reason = "--max-clients " + run.maxClients;
            more = "";
        }
        if (whole.connections() <= room) {
            return 1;
        }
        double share = whole.scaleFor(room);
        check(share > 0, whole.connections() + " connections are too many: " + reason);
        out.println("Scaled down to " + share + ": " + whole.connections() + " connections are too many, " + reason
                + (more.isEmpty() ? "." : ". " + more));
        return share;
    }

    /** Whether {@code --max-clients} was set; without it there is no limit, because the number of clients follows from the plan. */
    private boolean limitsClients() {
        return spec != null && spec.commandLine().getParseResult().hasMatchedOption("--max-clients");
    }

    private void print(String title, BusinessSizing sizing) {
        out.println(title + ":");
        for (Map.Entry<String, String> row : sizing.rows().entrySet()) {
            out.printf("  %-24s %s%n", row.getKey(), row.getValue());
        }
    }
}
