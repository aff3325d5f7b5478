// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the script by which a shell completes commands and flags. */
@Command(
        name = "completion",
        description =
                "Prints the script by which a shell completes commands and flags. For this session: source <(smqtt "
                        + "completion bash), the same with zsh, or smqtt completion fish | source. The packages bring the scripts along.")
final class CompletionCommand implements Callable<Integer> {

    /** The shells whose scripts there are. */
    enum Shell {
        bash,
        zsh,
        fish
    }

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "SHELL", description = "Names the shell, one of ${COMPLETION-CANDIDATES}.")
    Shell shell = Shell.bash;

    @Override
    public Integer call() {
        CommandSpec own = spec;
        if (own == null) {
            throw new IllegalStateException("completion is a sub-command");
        }
        CommandLine root = own.root().commandLine();
        root.getOut().print(of(shell, root));
        root.getOut().flush();
        return ExitCode.OK;
    }

    static String of(Shell shell, CommandLine root) {
        String name = root.getCommandName();
        if (shell == Shell.fish) {
            StringBuilder script = new StringBuilder("# fish completion of " + name + "\n");
            script.append("complete -c ").append(name).append(" -f\n");
            fish(root, "", script);
            return script.toString();
        }
        // The script serves both shells; zsh loads a file of its path only if this line comes first.
        String script = AutoComplete.bash(name, root).replace("\r\n", "\n");
        return shell == Shell.zsh ? "#compdef " + name + "\n" + script : script;
    }

    /** One line per command and flag, with the condition under which it is offered. */
    private static void fish(CommandLine command, String path, StringBuilder script) {
        String name = command.getCommandSpec().root().name();
        String depth = path.isEmpty()
                ? "__fish_use_subcommand"
                : "__fish_seen_subcommand_from " + path.substring(path.lastIndexOf(' ') + 1);
        command.getSubcommands().forEach((word, sub) -> {
            if (!sub.getCommandSpec().usageMessage().hidden()) {
                script.append("complete -c ")
                        .append(name)
                        .append(" -n '")
                        .append(depth)
                        .append("' -a ")
                        .append(word);
                describe(String.join(" ", sub.getCommandSpec().usageMessage().description()), script);
                fish(sub, path + " " + word, script);
            }
        });
        for (OptionSpec option : command.getCommandSpec().options()) {
            if (!option.hidden()) {
                script.append("complete -c ")
                        .append(name)
                        .append(" -n '")
                        .append(depth)
                        .append('\'');
                for (String flag : option.names()) {
                    script.append(flag.startsWith("--") ? " -l " + flag.substring(2) : " -s " + flag.substring(1));
                }
                script.append(option.arity().max() > 0 ? " -r -F" : "");
                describe(String.join(" ", option.description()), script);
            }
        }
    }

    private static void describe(String text, StringBuilder script) {
        int end = text.indexOf(". ");
        String first = end < 0 ? text : text.substring(0, end);
        script.append(" -d '")
                .append(first.replaceAll("[.]$", "").replace("\\", "\\\\").replace("'", "\\'"))
                .append("'\n");
    }
}
