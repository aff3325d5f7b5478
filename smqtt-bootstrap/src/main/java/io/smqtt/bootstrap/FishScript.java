// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The completion script of fish. Functions find the whole command before the cursor, so that {@code config check} and
 * {@code data check} are told apart; each word and flag is offered behind its own command only.
 */
final class FishScript {

    private final String name;

    /** Commands as the functions compare them: the command above, a blank, the word. */
    private final List<String> commands = new ArrayList<>();

    /** Flags that take a value, behind their commands. */
    private final List<String> takers = new ArrayList<>();

    private final StringBuilder offers = new StringBuilder();

    private FishScript(String name) {
        this.name = name;
    }

    static String of(CommandLine root) {
        FishScript script = new FishScript(root.getCommandName());
        script.command(root, "");
        return script.text();
    }

    private String text() {
        return """
                # fish completion of NAME

                # Prints the command before the cursor without flags, and a + behind it if there are arguments.
                function __NAME_command
                    set -l command
                    set -l arguments ''
                    set -l value false
                    set -l words (commandline -opc)
                    set -e words[1]
                    for word in $words
                        if test $value = true
                            set value false
                            continue
                        end
                        switch "$command $word"
                            case TAKERS
                                set value true
                            case '* -*'
                            case COMMANDS
                                set -a command $word
                            case '*'
                                set arguments ' +'
                        end
                    end
                    echo "$command$arguments"
                end

                function __NAME_at
                    test (string replace ' +' '' -- (__NAME_command)) = "$argv"
                end

                function __NAME_next
                    test (__NAME_command) = "$argv"
                end

                complete -c NAME -f
                """.replace("NAME", name)
                        .replace("TAKERS", "'" + String.join("' '", takers) + "'")
                        .replace("COMMANDS", "'" + String.join("' '", commands) + "'")
                + offers;
    }

    private void command(CommandLine command, String path) {
        CommandSpec spec = command.getCommandSpec();
        command.getSubcommands().forEach((word, sub) -> {
            if (!sub.getCommandSpec().usageMessage().hidden()) {
                command(path, word, sub);
                command(sub, below(path, word));
            }
        });
        if (spec.helpCommand()) {
            topics(spec.parent().commandLine(), path);
            words(List.of(HelpCommand.EXIT_CODES), path);
        } else {
            spec.positionalParameters().forEach(parameter -> argument(parameter, path));
        }
        spec.options().stream().filter(option -> !option.hidden()).forEach(option -> flag(option, path));
    }

    private void command(String path, String word, CommandLine command) {
        commands.add(path + " " + word);
        offers.append("complete -c ")
                .append(name)
                .append(" -n '__")
                .append(name)
                .append("_next \"");
        offers.append(path).append("\"' -a ").append(word);
        describe(String.join(" ", command.getCommandSpec().usageMessage().description()));
    }

    /** The help of a command takes what the command takes, and so on below. */
    private void topics(CommandLine group, String path) {
        for (String topic : HelpCommand.topics(group)) {
            CommandLine sub = group.getSubcommands().get(topic);
            if (sub != null) {
                command(path, topic, sub);
                if (!sub.getSubcommands().isEmpty()) {
                    topics(sub, below(path, topic));
                }
            }
        }
    }

    private void argument(PositionalParamSpec parameter, String path) {
        List<String> candidates = candidates(parameter);
        if (!candidates.isEmpty()) {
            words(candidates, path);
        }
    }

    private void words(List<String> words, String path) {
        String list = words.size() == 1 ? words.get(0) : "'" + String.join(" ", words) + "'";
        offers.append("complete -c ")
                .append(name)
                .append(" -n '__")
                .append(name)
                .append("_next \"");
        offers.append(path).append("\"' -a ").append(list).append('\n');
    }

    private void flag(OptionSpec option, String path) {
        offers.append("complete -c ")
                .append(name)
                .append(" -n '__")
                .append(name)
                .append("_at \"");
        offers.append(path).append("\"'");
        boolean takesValue = option.arity().max() > 0;
        for (String flag : option.names()) {
            offers.append(flag.startsWith("--") ? " -l " + flag.substring(2) : " -s " + flag.substring(1));
            if (takesValue) {
                takers.add(path + " " + flag);
            }
        }
        List<String> candidates = candidates(option);
        if (!candidates.isEmpty()) {
            offers.append(" -x -a '").append(String.join(" ", candidates)).append('\'');
        } else if (takesValue) {
            offers.append(" -r -F");
        }
        describe(String.join(" ", option.description()));
    }

    private static List<String> candidates(ArgSpec argument) {
        List<String> candidates = new ArrayList<>();
        if (argument.completionCandidates() != null) {
            argument.completionCandidates().forEach(candidates::add);
        }
        return candidates;
    }

    private static String below(String path, String word) {
        return path.isEmpty() ? word : path + " " + word;
    }

    /** Ends a line with the first sentence of a text. */
    private void describe(String text) {
        int end = text.indexOf(". ");
        String first = end < 0 ? text : text.substring(0, end);
        offers.append(" -d '")
                .append(first.replaceAll("[.]$", "").replace("\\", "\\\\").replace("'", "\\'"))
                .append("'\n");
    }
}
