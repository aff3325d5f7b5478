// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
import io.smqtt.migrate.Migration;
import io.smqtt.migrate.OldBroker;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags that say what to run with. Precedence: defaults, file, environment, flags. */
final class ConfigOptions {

    private static final String VARIABLE = "SMQTT_CONFIG";

    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec command;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description = "Names the configuration file (YAML). The default is the file that SMQTT_CONFIG names, else "
                    + "none.")
    @Nullable
    String file;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one key, such as listeners.tcp.port=1884. Can be repeated.")
    List<String> settings = new ArrayList<>();

    @Option(names = "--data", paramLabel = "DIR", description = "Sets the data directory, the key storage.dir.")
    @Nullable
    String data;

    @Option(
            names = {"-v", "--verbose"},
            description = "Sets the log level to debug, or to trace if given twice (the key logging.level). Errors are "
                    + "shown with their stack trace.")
    boolean[] verbose = {};

    /**
     * Reads all sources.
     *
     * @param program environment and working directory
     * @return what to run with, checked key by key
     * @throws ConfigurationException if a key is unknown, or a value wrong
     */
    EffectiveConfig load(ProgramContext program) {
        return read(program).requireBound();
    }

    /**
     * Reads all sources, for a look at all problems.
     *
     * @param program environment and working directory
     * @return what to run with if it has no problems
     * @throws ConfigurationException if the file cannot be read or is malformed
     */
    EffectiveConfig read(ProgramContext program) {
        Path directory = program.directory();
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        String path = file != null ? file : program.environment().get(VARIABLE);
        requireNames(path);
        // The only default that is relative: beside the configuration, as everything else in it.
        Path base = path == null ? directory : beside(directory.resolve(path), directory);
        values.put("storage.dir", new ConfigValue("data", "default", base));
        List<String> problems = new ArrayList<>();
        if (path != null) {
            problems.addAll(
                    file != null
                            ? read(directory.resolve(path), path, values)
                            : readOfVariable(directory.resolve(path), path, values));
        }
        return tryOverlay(program, values, problems);
    }

    /**
     * Reads the sources that come after a file.
     *
     * @param program environment and working directory
     * @param values what stands in the place of a file; changed
     * @return what to run with, checked key by key
     */
    EffectiveConfig overlay(ProgramContext program, Map<String, ConfigValue> values) {
        return tryOverlay(program, values, new ArrayList<>()).requireBound();
    }

    private EffectiveConfig tryOverlay(ProgramContext program, Map<String, ConfigValue> values, List<String> problems) {
        ConfigSchema schema = EffectiveConfig.schema();
        Path directory = program.directory();
        problems.addAll(EnvironmentKeys.read(program.environment(), directory, schema, values));
        if (verbose.length > 0) {
            values.put("logging.level", new ConfigValue(verbose.length > 1 ? "trace" : "debug", "-v", directory));
        }
        if (data != null) {
            values.put("storage.dir", new ConfigValue(data, "--data", directory));
        }
        for (String setting : settings) {
            int equals = setting.indexOf('=');
            if (equals <= 0) {
                throw usage(
                        "--set takes KEY=VALUE, such as --set listeners.tcp.port=1884"); // what it is may be a secret
            }
            String key = setting.substring(0, equals).trim();
            values.put(
                    key,
                    new ConfigValue(setting.substring(equals + 1).trim(), "--set " + SecretMask.key(key), directory));
        }
        return EffectiveConfig.tryBind(schema, values, problems);
    }

    /** An empty name, as from a variable of a script that is not set, would be the working directory. */
    private void requireNames(@Nullable String path) {
        if (file != null && file.isBlank()) {
            throw usage("--config needs the name of a file, but is empty");
        }
        if (data != null && data.isBlank()) {
            throw usage("--data needs the name of a directory, but is empty");
        }
        if (path != null && path.isBlank()) {
            throw new ConfigurationException(
                    List.of("environment " + VARIABLE + ": is empty; name a file, or unset the variable"));
        }
    }

    /** A file that cannot be read at all is reported with the variable: the command line does not name it. */
    private static List<String> readOfVariable(Path file, String shownAs, Map<String, ConfigValue> values) {
        try {
            return read(file, shownAs, values);
        } catch (ConfigurationException e) {
            throw new ConfigurationException(e.problems().stream()
                    .map(problem -> "environment " + VARIABLE + ": " + problem)
                    .toList());
        }
    }

    private static List<String> read(Path file, String shownAs, Map<String, ConfigValue> values) {
        OldBroker other = Migration.recognise(file, EffectiveConfig.schema());
        if (other != null) {
            throw new ConfigurationException(List.of(shownAs + ": is a configuration of "
                    + (other == OldBroker.smqtt ? "the former smqtt" : other.name()) + "; bin/smqtt config migrate "
                    + shownAs + " -o smqtt.yaml writes it anew, bin/smqtt start --migrate " + shownAs
                    + " starts with it"));
        }
        try {
            return YamlFile.read(file, shownAs, values);
        } catch (ConfigurationException e) {
            if (!shownAs.toLowerCase(Locale.ROOT).endsWith(".properties")) {
                throw e;
            }
            List<String> problems = new ArrayList<>(e.problems());
            problems.add(
                    shownAs + ": properties are for Spring applications; this program reads YAML, with the same keys");
            throw new ConfigurationException(problems);
        }
    }

    private static Path beside(Path file, Path fallback) {
        Path parent = file.toAbsolutePath().normalize().getParent();
        return parent == null ? fallback : parent;
    }

    private RuntimeException usage(String message) {
        return command == null
                ? new IllegalArgumentException(message)
                : new ParameterException(command.commandLine(), message);
    }
}
