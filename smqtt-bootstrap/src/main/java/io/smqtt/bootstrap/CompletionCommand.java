// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the script by which a shell completes commands and flags. */
@Command(
        name = "completion",
        description = "Prints a completion script for a shell. For this session: source <(smqtt completion bash), "
                + "the same with zsh, or smqtt completion fish | source. The packages contain the scripts.")
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
            return FishScript.of(root);
        }
        // The script serves both shells; zsh loads a file of its path only if this line comes first.
        String script = AutoComplete.bash(name, root).replace("\r\n", "\n");
        return shell == Shell.zsh ? "#compdef " + name + "\n" + script : script;
    }
}
