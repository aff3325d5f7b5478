// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes the manual pages that the packages bring along: {@code smqtt.1}, and one for each command. */
@Command(name = "man", hidden = true, description = "Writes the manual pages into a directory.")
final class ManCommand implements Callable<Integer> {

    private final ProgramContext program;

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DIR", description = "Names the directory.")
    String directory = "";

    ManCommand(ProgramContext program) {
        this.program = program;
    }

    @Override
    public Integer call() throws IOException {
        CommandSpec own = spec;
        if (own == null) {
            throw new IllegalStateException("man is a sub-command");
        }
        Path target = Files.createDirectories(program.directory().resolve(directory));
        for (Map.Entry<String, String> page : pages(own.root().commandLine()).entrySet()) {
            Files.writeString(target.resolve(page.getKey()), page.getValue(), StandardCharsets.UTF_8);
        }
        return ExitCode.OK;
    }

    /** {@return the name of each file and its text, in troff's man macros} */
    static Map<String, String> pages(CommandLine root) {
        Map<String, String> pages = new LinkedHashMap<>();
        add(root, pages);
        return pages;
    }

    private static void add(CommandLine command, Map<String, String> pages) {
        CommandSpec spec = command.getCommandSpec();
        if (spec.usageMessage().hidden()) {
            return;
        }
        String name = spec.qualifiedName("-");
        pages.put(name + ".1", page(command, name));
        command.getSubcommands().values().forEach(sub -> add(sub, pages));
    }

    private static String page(CommandLine command, String name) {
        CommandSpec spec = command.getCommandSpec();
        String description = String.join(" ", spec.usageMessage().description());
        int end = description.indexOf(". ");
        String first = (end < 0 ? description : description.substring(0, end)).replaceAll("[.]$", "");
        StringBuilder page = new StringBuilder();
        page.append(".TH ").append(name.toUpperCase(Locale.ROOT)).append(" 1 \"\" smqtt \"smqtt manual\"\n");
        page.append(".SH NAME\n")
                .append(text(name))
                .append(" \\- ")
                .append(text(first))
                .append('\n');
        page.append(".SH SYNOPSIS\n.nf\n");
        page.append(text(command.getHelp().synopsis(0).stripTrailing())).append("\n.fi\n");
        page.append(".SH DESCRIPTION\n").append(text(description)).append('\n');
        commands(command, page);
        arguments(spec, page);
        page.append(".SH EXIT STATUS\n");
        ExitCode.meanings().forEach((code, meaning) -> entry(String.valueOf(code), meaning, page));
        if (spec.parent() != null) {
            page.append(".SH SEE ALSO\n")
                    .append(text(spec.parent().qualifiedName("-")))
                    .append("(1)\n");
        }
        return page.toString();
    }

    private static void commands(CommandLine command, StringBuilder page) {
        boolean first = true;
        for (Map.Entry<String, CommandLine> sub : command.getSubcommands().entrySet()) {
            CommandSpec spec = sub.getValue().getCommandSpec();
            if (!spec.usageMessage().hidden()) {
                page.append(first ? ".SH COMMANDS\n" : "");
                first = false;
                entry(
                        spec.qualifiedName("-") + "(1)",
                        String.join(" ", spec.usageMessage().description()),
                        page);
            }
        }
    }

    private static void arguments(CommandSpec spec, StringBuilder page) {
        if (!spec.options().isEmpty() || !spec.positionalParameters().isEmpty()) {
            page.append(".SH OPTIONS\n");
        }
        spec.positionalParameters().forEach(parameter -> entry(parameter.paramLabel(), description(parameter), page));
        for (OptionSpec option : spec.options()) {
            if (!option.hidden()) {
                String value = option.arity().max() > 0 ? " " + option.paramLabel() : "";
                entry(String.join(", ", option.names()) + value, description(option), page);
            }
        }
    }

    private static String description(ArgSpec argument) {
        StringBuilder words = new StringBuilder();
        if (argument.completionCandidates() != null) {
            argument.completionCandidates()
                    .forEach(word ->
                            words.append(words.length() == 0 ? "" : ", ").append(word));
        }
        return String.join(" ", argument.description())
                .replace("${COMPLETION-CANDIDATES}", words)
                .replace("${DEFAULT-VALUE}", String.valueOf(argument.initialValue()));
    }

    private static void entry(String head, String text, StringBuilder page) {
        page.append(".TP\n.B ")
                .append(text(head))
                .append('\n')
                .append(text(text))
                .append('\n');
    }

    /** Plain text, in which troff finds nothing to do. */
    private static String text(String plain) {
        String unmarked = WholeWords.restored(plain);
        String escaped = unmarked.replace("\\", "\\e").replace("-", "\\-");
        return escaped.lines()
                .map(line -> line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line)
                .reduce((a, b) -> a + "\n" + b)
                .orElse("");
    }
}
