// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.admin.account.AccountFiles;
import io.smqtt.config.ManagementConfig;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Looks at a configuration without starting anything. */
@Command(
        name = "config",
        description = "Checks or prints the configuration, or translates the configuration of another broker.")
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
            description = "Checks the configuration and all files that it names, and starts nothing. Exits with 0 if a "
                    + "broker can start with it, else with 3 and all problems.")
    static final class Check extends ConfiguredCommand {

        Check(ProgramContext program) {
            super(program);
        }

        @Override
        public Integer call() {
            EffectiveConfig config = options.read(program());
            config.requireChecked(program().modules());
            ManagementConfig management = config.broker().management();
            AccountFiles.warnings(management.usersFile(), management.apiKeysFile())
                    .forEach(warning -> program().err().println("warning: " + warning));
            program()
                    .out()
                    .println("configuration ok, listeners "
                            + String.join(", ", config.broker().listeners().keySet()));
            return ExitCode.OK;
        }
    }

    /** The output format of values. */
    enum Format {
        yaml,
        properties
    }

    /** Shows every value and where it comes from. */
    @Command(name = "print", description = "Prints every key with its value and its source. Secrets are masked.")
    static final class Print extends ConfiguredCommand {

        @Option(
                names = "--format",
                description = "Chooses one of ${COMPLETION-CANDIDATES}. The default is ${DEFAULT-VALUE}.")
        Format format = Format.yaml;

        Print(ProgramContext program) {
            super(program);
        }

        @Override
        public Integer call() {
            EffectiveConfig config = config();
            Map<String, String> values = config.values();
            if (format == Format.yaml) {
                program().out().print(YamlText.of(values, config::origin));
            } else {
                values.forEach(
                        (key, value) -> program().out().println("# " + config.origin(key) + "\n" + key + "=" + value));
            }
            return ExitCode.OK;
        }
    }
}
