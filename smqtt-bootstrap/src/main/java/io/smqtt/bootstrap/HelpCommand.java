// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows the help of a command, as its flag {@code --help} does, or a topic of its own. */
@Command(
        name = "help",
        helpCommand = true,
        description =
                "Shows the help of a command, as its flag --help does. The topic exit-codes shows all exit " + "codes.")
final class HelpCommand implements Callable<Integer> {

    static final String EXIT_CODES = "exit-codes";

    private static final int COLUMNS = 80;
    private static final int CODE_COLUMNS = 7;

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "Is a command, or the topic exit-codes.")
    List<String> names = new ArrayList<>();

    /**
     * Makes the help of a command.
     *
     * @param group the command, with all others that it has
     * @return a help whose arguments a shell can complete
     */
    static CommandLine of(CommandLine group) {
        CommandLine help = new CommandLine(new HelpCommand());
        CommandSpec spec = help.getCommandSpec();
        PositionalParamSpec plain = spec.positionalParameters().get(0);
        spec.remove(plain);
        spec.addPositional(plain.toBuilder().completionCandidates(topics(group)).build());
        return help;
    }

    /** {@return what the help of a command takes: its visible sub-commands, and the exit codes} */
    static List<String> topics(CommandLine group) {
        List<String> topics = new ArrayList<>();
        group.getSubcommands().forEach((name, sub) -> {
            CommandSpec spec = sub.getCommandSpec();
            if (!spec.usageMessage().hidden() && !spec.helpCommand()) {
                topics.add(name);
            }
        });
        topics.add(EXIT_CODES);
        return topics;
    }

    @Override
    public Integer call() {
        CommandLine shown = parent();
        PrintWriter out = shown.getOut();
        if (names.equals(List.of(EXIT_CODES))) {
            out.print(exitCodes());
        } else {
            for (String name : names) {
                CommandLine next = shown.getSubcommands().get(name);
                if (next == null) {
                    throw new ParameterException(parent(), Usage.unknownCommand(name, shown));
                }
                shown = next;
            }
            shown.usage(out);
        }
        out.flush();
        return ExitCode.OK;
    }

    private CommandLine parent() {
        CommandSpec own = spec;
        if (own == null || own.parent() == null) {
            throw new IllegalStateException("help is a sub-command");
        }
        return own.parent().commandLine();
    }

    /** {@return the table of exit codes, of at most 80 columns} */
    static String exitCodes() {
        TextTable table = TextTable.forColumns(
                CommandLine.Help.defaultColorScheme(Ansi.OFF),
                new Column(CODE_COLUMNS, 2, Overflow.SPAN),
                new Column(COLUMNS - CODE_COLUMNS, 0, Overflow.WRAP));
        ExitCode.meanings().forEach((code, meaning) -> table.addRowValues(String.valueOf(code), meaning));
        return "Exit codes:\n" + table;
    }
}
