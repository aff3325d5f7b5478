// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.bench.BenchCommand;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
import io.smqtt.persistence.StoreInUseException;
import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.spi.StoreUnavailableException;
import io.smqtt.transport.BindFailedException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * The command line. Exit codes: 0 all well, 1 unexpected or refused, 2 wrong usage, 3 the configuration cannot be used or no broker answers, 4 a port is
 * in use or an address cannot be bound, 5 the stored data is damaged, in use, of a newer version or on a disk that cannot be used.
 */
@Command(
        name = "smqtt",
        description = "Runs and inspects an MQTT broker for MQTT 3.1, 3.1.1 and 5.0.",
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:All is well.",
            "1:An unexpected error, or a running broker refused what it was asked.",
            "2:Wrong usage.",
            "3:The configuration cannot be used, or the broker of ctl did not answer.",
            "4:An address cannot be bound.",
            "5:The stored data cannot be used."
        },
        footer = {"", "See smqtt help COMMAND for one command, and smqtt help exit-codes for more on these."})
public final class SmqttMain implements Runnable {

    private static final String LEAK_DETECTION = "io.netty.leakDetection.level";

    /** Lets Netty allocate direct memory that Java has not filled with zeros; the manifest opens {@code java.nio} for it. */
    private static final String UNZEROED_MEMORY = "io.netty.tryReflectionSetAccessible";

    /** Java sends a POST again if a kept connection ends; a message would be published twice. */
    private static final String RETRIED_POST = "sun.net.http.retryPost";

    /** The commands that read all others. */
    private static final Set<String> DESCRIBING = Set.of("completion", "man");

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
        if (System.getProperty(UNZEROED_MEMORY) == null) {
            System.setProperty(UNZEROED_MEMORY, "true");
        }
        System.setProperty(RETRIED_POST, "false");
        Extensions.install();
        System.exit(run(ProgramContext.ofProcess(), args));
    }

    static int run(ProgramContext program, String... args) {
        return commandLine(program, List.of(args))
                .setParameterExceptionHandler((wrong, arguments) -> wrongUsage(wrong, program.err()))
                .setExecutionExceptionHandler(
                        (failure, failed, parsed) -> exitCode(failure, isVerbose(parsed), program.err()))
                .execute(args);
    }

    /** {@return all commands, to be described} */
    static CommandLine commandLine(ProgramContext program) {
        return commandLine(program, List.of());
    }

    /** {@return all commands; below {@code ctl} only those that a command line may mean} */
    private static CommandLine commandLine(ProgramContext program, List<String> words) {
        CommandLine config = new CommandLine(new ConfigCommand())
                .addSubcommand(new ConfigCommand.Check(program))
                .addSubcommand(new ConfigCommand.Print(program))
                .addSubcommand(new MigrateCommand(program));
        CommandLine data = new CommandLine(new DataCommand())
                .addSubcommand(new DataCommand.Export(program))
                .addSubcommand(new DataCommand.Import(program))
                .addSubcommand(new DataCommand.Check(program))
                .addSubcommand(new DataCommand.Backup(program));
        CommandLine ctl = ctl(program, words);
        CommandLine ext = new CommandLine(new ExtCommand()).addSubcommand(new ExtCommand.ListAll(program));
        CommandLine rule = new CommandLine(new RuleCommand()).addSubcommand(new RuleCommand.Test(program));
        CommandLine line = new CommandLine(new SmqttMain())
                .addSubcommand(new StartCommand(program))
                .addSubcommand(config)
                .addSubcommand(data)
                .addSubcommand(ctl)
                .addSubcommand(new TopCommand(program))
                .addSubcommand(new PasswdCommand(program))
                .addSubcommand(ext)
                .addSubcommand(rule)
                .addSubcommand(new VersionCommand(program))
                .addSubcommand(new CompletionCommand())
                .addSubcommand(new ManCommand(program))
                .addSubcommand(new WarmUpCommand(program));
        addHelp(line);
        line.getCommandSpec()
                .versionProvider(new VersionCommand(program))
                .addOption(OptionSpec.builder("-V", "--version")
                        .versionHelp(true)
                        .description("Prints the versions of smqtt, Java and the operating system.")
                        .build());
        // With a help flag of its own: -h is the host there.
        CommandLine bench = BenchCommand.commandLine(program.out(), program.err());
        line.addSubcommand(bench);
        for (CommandLine group : List.of(line, config, data, ctl, ext, rule, bench)) {
            addHelpCommand(group);
        }
        ctl.getSubcommands().values().stream()
                .filter(command -> !command.getSubcommands().isEmpty())
                .forEach(SmqttMain::addHelpCommand);
        WholeWords.keepIn(line);
        return line.setOut(WholeWords.restoring(program.out()))
                .setErr(new PrintWriter(program.err(), true, StandardCharsets.UTF_8));
    }

    private static CommandLine ctl(ProgramContext program, List<String> words) {
        if (words.isEmpty() || DESCRIBING.contains(words.get(0))) {
            return CtlCommand.of(program, List.of());
        }
        List<String> path = words.get(0).equals("help") ? words.subList(1, words.size()) : words;
        return !path.isEmpty() && path.get(0).equals(CtlCommand.NAME)
                ? CtlCommand.of(program, path.subList(1, path.size()))
                : CtlCommand.nameOnly();
    }

    private static void addHelpCommand(CommandLine group) {
        CommandLine help = HelpCommand.of(group);
        addHelp(help);
        group.addSubcommand(help);
    }

    private static void addHelp(CommandLine line) {
        line.getCommandSpec()
                .addOption(OptionSpec.builder("-h", "--help")
                        .usageHelp(true)
                        .description("Shows this help.")
                        .build());
        if (line.getCommandSpec().parent() != null) {
            line.getCommandSpec()
                    .usageMessage()
                    .footer("", "For the exit codes see smqtt help " + HelpCommand.EXIT_CODES + ".");
        }
        line.getSubcommands().values().forEach(SmqttMain::addHelp);
    }

    /** The reason and where help is, not the whole help: the reason would scroll away. */
    private static int wrongUsage(ParameterException wrong, PrintStream err) {
        err.println("smqtt: " + Usage.problem(wrong));
        err.println("See " + wrong.getCommandLine().getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    private static boolean isVerbose(ParseResult parsed) {
        ParseResult last = parsed;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        return last.hasMatchedOption("--verbose");
    }

    private static int exitCode(Throwable failure, boolean isVerbose, PrintStream err) {
        boolean verbose = isVerbose;
        int code = ExitCode.UNEXPECTED;
        if (failure instanceof ConfigurationException refused) {
            refused.problems().forEach(problem -> err.println("smqtt: " + problem));
            code = ExitCode.BAD_CONFIGURATION;
        } else if (failure instanceof BindFailedException) {
            err.println("smqtt: " + failure.getMessage());
            code = ExitCode.PORT_IN_USE;
        } else if (failure instanceof StoreDamagedException
                || failure instanceof StoreInUseException
                || failure instanceof StoreUnusableException
                || failure instanceof BadDataException) {
            err.println("smqtt: " + failure.getMessage());
            code = ExitCode.BAD_DATA;
        } else if (failure instanceof StoreUnavailableException) { // the next start may find the other nodes
            err.println("smqtt: " + failure.getMessage());
        } else {
            err.println("smqtt: unexpected error, please report it");
            verbose = true;
        }
        if (verbose) {
            StringWriter trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace, true));
            err.print(SecretMask.text(trace.toString())); // messages of libraries quote what they were given
        }
        return code;
    }

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "which command?");
        }
    }
}
