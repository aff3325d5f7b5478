// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.NearestKey;
import io.smqtt.config.SecretMask;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Words what is wrong with a command line. Arguments are not repeated, because any of them may be a secret; flags and commands are. */
final class Usage {

    private static final Pattern COMMAND = Pattern.compile("[a-z][a-z-]{0,20}");
    private static final Pattern FLAG = Pattern.compile("--?[A-Za-z][A-Za-z-]{0,30}");

    /** What a flag was given that takes nothing, or in the place of what it takes. */
    private static final Pattern GIVEN = Pattern.compile("( without| but found) '[^']*'( parameter)?");

    /** What a flag was given whose value has another type, up to the name of that type. */
    private static final Pattern OTHER_TYPE = Pattern.compile("(?s): '.*'( is (?:not an?|no) )");

    private static final Pattern NUMBER = Pattern.compile("is not an? (int|long|double|float)");

    /** What a flag was given that takes one of some words. */
    private static final Pattern OTHER_WORD = Pattern.compile("(?s) but was '.*'");

    private static final Pattern SWITCH = Pattern.compile("Invalid value for option '([^']*)'.* is not a boolean");

    private Usage() {}

    /** {@return one sentence, with the nearest flag or command where there is one} */
    static String problem(ParameterException wrong) {
        CommandLine command = wrong.getCommandLine();
        if (!(wrong instanceof UnmatchedArgumentException unmatched)) {
            String message = GIVEN.matcher(String.valueOf(wrong.getMessage())).replaceAll("$1 a value");
            message = OTHER_TYPE.matcher(message).replaceAll("$1");
            message = NUMBER.matcher(message).replaceAll("is not a number");
            message = OTHER_WORD.matcher(message).replaceAll("");
            return SecretMask.text(SWITCH.matcher(message).replaceFirst("$1 takes no value"));
        }
        List<String> left = unmatched.getUnmatched();
        String first = left.isEmpty() ? "" : left.get(0);
        String name = first.contains("=") ? first.substring(0, first.indexOf('=')) : first;
        if (name.startsWith("-")) {
            return unknownFlag(name, command);
        }
        if (!command.getSubcommands().isEmpty()) {
            return unknownCommand(first, command);
        }
        int taken = command.getCommandSpec().positionalParameters().size();
        return command.getCommandSpec().qualifiedName() + " takes "
                + (taken == 0 ? "no arguments" : taken == 1 ? "one argument" : taken + " arguments")
                + " beside its flags; " + left.size() + " too many";
    }

    private static String unknownFlag(String name, CommandLine command) {
        if (!FLAG.matcher(name).matches()) {
            return "there is a flag that " + command.getCommandSpec().qualifiedName() + " does not know";
        }
        CommandSpec spec = command.getCommandSpec();
        Stream<String> known = spec.options().stream()
                .filter(option -> !option.hidden())
                .flatMap(option -> Stream.of(option.names()))
                .filter(flag -> flag.startsWith("--"));
        return spec.qualifiedName() + " has no flag " + name
                + meant(name.length() > 2 ? NearestKey.among(name, known.toList()) : null);
    }

    static String unknownCommand(String name, CommandLine command) {
        String qualified = command.getCommandSpec().qualifiedName();
        if (!COMMAND.matcher(name).matches()) {
            return qualified + " has no such command";
        }
        List<String> known = command.getSubcommands().entrySet().stream()
                .filter(entry ->
                        !entry.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .toList();
        return qualified + " has no command " + name + meant(NearestKey.among(name, known));
    }

    private static String meant(@Nullable String nearest) {
        return nearest == null ? "" : ", did you mean " + nearest + "?";
    }
}
