// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.benchmark.load.BenchCommand;
import io.smqtt.config.ConfigurationException;
import io.smqtt.persistence.StoreInUseException;
import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.transport.BindFailedException;
import java.io.PrintStream;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command line. Exit codes: 0 all well, 1 unexpected, 2 wrong usage, 3 the configuration cannot be used, 4 a port is
 * in use or an address cannot be bound, 5 the stored data is damaged, in use, of a newer version or on a disk that cannot be used.
 */
@Command(
        name = "smqtt",
        description = "An MQTT broker for MQTT 3.1, 3.1.1 and 5.0.",
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all well",
            "1:unexpected error",
            "2:wrong usage",
            "3:the configuration cannot be used",
            "4:an address cannot be bound",
            "5:the stored data cannot be used"
        })
public final class SmqttMain implements Runnable {

    private static final String LEAK_DETECTION = "io.netty.leakDetection.level";

    @Spec
    @Nullable
    CommandSpec spec;

    private SmqttMain() {}

    /**
     * Runs a command and ends the virtual machine with its exit code.
     *
     * @param args the command line
     */
    public static void main(String[] args) {
        if (System.getProperty(LEAK_DETECTION) == null) { // Netty's own default samples buffers, for developers
            System.setProperty(LEAK_DETECTION, "disabled");
        }
        System.exit(run(Surroundings.ofProcess(), args));
    }

    static int run(Surroundings surroundings, String... args) {
        CommandLine config = new CommandLine(new ConfigCommand())
                .addSubcommand(new ConfigCommand.Check(surroundings))
                .addSubcommand(new ConfigCommand.Print(surroundings))
                .addSubcommand(new MigrateCommand(surroundings));
        CommandLine data = new CommandLine(new DataCommand())
                .addSubcommand(new DataCommand.Export(surroundings))
                .addSubcommand(new DataCommand.Import(surroundings))
                .addSubcommand(new DataCommand.Check(surroundings))
                .addSubcommand(new DataCommand.Backup(surroundings));
        CommandLine ctl = new CommandLine(new CtlCommand())
                .addSubcommand(new CtlCommand.Clients(surroundings))
                .addSubcommand(new CtlCommand.Client(surroundings))
                .addSubcommand(new CtlCommand.Disconnect(surroundings))
                .addSubcommand(new CtlCommand.Explain(surroundings))
                .addSubcommand(new CtlCommand.Cluster(surroundings));
        CommandLine line = new CommandLine(new SmqttMain())
                .addSubcommand(new StartCommand(surroundings))
                .addSubcommand(config)
                .addSubcommand(data)
                .addSubcommand(ctl)
                .addSubcommand(new TopCommand(surroundings))
                .addSubcommand(new PasswdCommand(surroundings))
                .addSubcommand(new VersionCommand(surroundings))
                .addSubcommand(new WarmUpCommand(surroundings));
        addHelp(line);
        // With a help of its own: -h is the host there.
        return line.addSubcommand(BenchCommand.commandLine(surroundings.out(), surroundings.err()))
                .setOut(new PrintWriter(surroundings.out(), true))
                .setErr(new PrintWriter(surroundings.err(), true))
                .setParameterExceptionHandler((wrong, arguments) -> wrongUsage(wrong, surroundings.err()))
                .setExecutionExceptionHandler((failure, failed, parsed) -> exitCode(failure, surroundings.err()))
                .execute(args);
    }

    private static void addHelp(CommandLine line) {
        line.getCommandSpec()
                .addOption(OptionSpec.builder("-h", "--help")
                        .usageHelp(true)
                        .description("Shows this help.")
                        .build());
        line.getSubcommands().values().forEach(SmqttMain::addHelp);
    }

    /** The reason and where help is, not the whole help: the reason would scroll away. */
    private static int wrongUsage(ParameterException wrong, PrintStream err) {
        CommandLine command = wrong.getCommandLine();
        err.println("smqtt: " + wrong.getMessage());
        UnmatchedArgumentException.printSuggestions(wrong, err);
        err.println("See " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    private static int exitCode(Throwable failure, PrintStream err) {
        if (failure instanceof ConfigurationException) {
            ((ConfigurationException) failure).problems().forEach(problem -> err.println("smqtt: " + problem));
            return ExitCode.BAD_CONFIGURATION;
        }
        if (failure instanceof BindFailedException) {
            err.println("smqtt: " + failure.getMessage());
            return ExitCode.PORT_IN_USE;
        }
        if (failure instanceof StoreDamagedException
                || failure instanceof StoreInUseException
                || failure instanceof StoreUnusableException
                || failure instanceof BadDataException) {
            err.println("smqtt: " + failure.getMessage());
            return ExitCode.BAD_DATA;
        }
        err.println("smqtt: unexpected error, please report it");
        failure.printStackTrace(err);
        return ExitCode.UNEXPECTED;
    }

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "which command?");
        }
    }
}
