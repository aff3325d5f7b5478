// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Looks at a configuration without starting anything. */
@Command(name = "config", description = "Checks or prints the configuration, or writes that of another broker anew.")
final class ConfigCommand implements Runnable {

    @Spec
    @Nullable
    CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "check, print or migrate?");
        }
    }

    /** Says whether a broker could start with it. */
    @Command(
            name = "check",
            description = "Exits with 0 if the configuration can be used, with 3 and the reasons if not.")
    static final class Check extends ConfiguredCommand {

        Check(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        public Integer call() {
            EffectiveConfig config = options.read(surroundings());
            config.requireChecked(surroundings().modules());
            surroundings()
                    .out()
                    .println("configuration ok, listeners "
                            + String.join(", ", config.broker().listeners().keySet()));
            return ExitCode.OK;
        }
    }

    /** How values are printed. */
    enum Format {
        yaml,
        properties
    }

    /** Shows every value and where it comes from. */
    @Command(
            name = "print",
            description = "Prints every key with its value and where that comes from. Secrets are masked.")
    static final class Print extends ConfiguredCommand {

        @Option(
                names = "--format",
                description = "Chooses one of ${COMPLETION-CANDIDATES}. The default is ${DEFAULT-VALUE}.")
        Format format = Format.yaml;

        Print(Surroundings surroundings) {
            super(surroundings);
        }

        @Override
        public Integer call() {
            EffectiveConfig config = config();
            Map<String, String> values = config.values();
            if (format == Format.yaml) {
                surroundings().out().print(YamlText.of(values, config::origin));
            } else {
                values.forEach((key, value) ->
                        surroundings().out().println("# " + config.origin(key) + "\n" + key + "=" + value));
            }
            return ExitCode.OK;
        }
    }
}
