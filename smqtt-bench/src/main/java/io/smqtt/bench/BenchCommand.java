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
 * The command line of the load tool. Exit codes: 0 all well, 1 a limit was broken or the load could not be run, 2 wrong
 * usage, 130 interrupted by a signal. Its commands block the thread that executes them; they share nothing and may run side by side.
 */
@Command(
        name = "bench",
        description = "Puts load on an MQTT broker and measures.",
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
     * Makes the command, to be executed or to become a sub-command of another. As {@code -h} is the host here, as in other
     * load tools, help is {@code --help} alone.
     *
     * @param out where results go
     * @param err where progress and problems go
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
            throw new ParameterException(spec.commandLine(), "which load: conn, pub, sub, scenario or size?");
        }
    }
}
