// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * The command line of the load tool. Exit codes: 0 success, 1 a limit was broken or the load failed, 2 wrong usage, 130 interrupted by a
 * signal. Commands block the thread that executes them; they share no state and may run in parallel.
 */
@Command(
        name = "bench",
        description = "Generates load for an MQTT broker and measures it.",
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all well",
            "1:a limit was broken, or the load could not be run",
            "2:wrong usage",
            "130:interrupted by SIGINT or SIGTERM, what was measured until then was reported",
        })
public final class BenchCommand implements Runnable {

    @Spec
    @Nullable
    CommandSpec spec;

    private BenchCommand() {}

    /**
     * Creates the command, for execution or as a sub-command. Because {@code -h} is the host, as in other load tools, help is {@code
     * --help} only.
     *
     * @param out receives results
     * @param err receives progress and errors
     * @return the command with all of its sub-commands
     */
    public static CommandLine commandLine(PrintStream out, PrintStream err) {
        return commandLine(out, err, new Interruption());
    }

    static CommandLine commandLine(PrintStream out, PrintStream err, Interruption interruption) {
        CommandLine line = new CommandLine(new BenchCommand())
                .addSubcommand(new ConnCommand(out, err, interruption))
                .addSubcommand(new PubCommand(out, err, interruption))
                .addSubcommand(new SubCommand(out, err, interruption))
                .addSubcommand(new ScenarioCommand(out, err, interruption))
                .addSubcommand(new BridgeCommand(out, err, interruption))
                .addSubcommand(new RulesCommand(out, err, interruption))
                .addSubcommand(new SizeCommand(out, err, interruption))
                .registerConverter(Duration.class, BenchCommand::duration)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        help(line);
        line.getSubcommands().values().forEach(BenchCommand::help);
        return line;
    }

    private static void help(CommandLine line) {
        line.getCommandSpec()
                .addOption(OptionSpec.builder("--help")
                        .usageHelp(true)
                        .description("Shows this help.")
                        .build());
        line.getCommandSpec().usageMessage().sortOptions(false).abbreviateSynopsis(true);
    }

    private static Duration duration(String text) {
        try {
            return DurationText.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(
                    spec.commandLine(), "missing load: conn, pub, sub, scenario, bridge, rules or size");
        }
    }
}
