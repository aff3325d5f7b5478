// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.bootstrap.migrate.Migration;
import io.smqtt.bootstrap.migrate.OldBroker;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
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

    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec command;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description =
                    "Reads this configuration file, YAML. Without it SMQTT_CONFIG names one, else the defaults hold.")
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
            description =
                    "Logs more: level debug, given twice level trace (the key logging.level). An error that ends the "
                            + "command is shown with its stack trace.")
    boolean[] verbose = {};

    /**
     * Reads all sources.
     *
     * @param surroundings environment and working directory
     * @return what to run with, checked key by key
     * @throws ConfigurationException if a key is unknown, or a value wrong
     */
    EffectiveConfig load(Surroundings surroundings) {
        return read(surroundings).requireBound();
    }

    /**
     * Reads all sources, for a look at all problems.
     *
     * @param surroundings environment and working directory
     * @return what to run with if it has no problems
     * @throws ConfigurationException if the file cannot be read or is malformed
     */
    EffectiveConfig read(Surroundings surroundings) {
        Path directory = surroundings.directory();
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        String path = file != null ? file : surroundings.environment().get("SMQTT_CONFIG");
        // The only default that is relative: beside the configuration, as everything else in it.
        Path base = path == null ? directory : beside(directory.resolve(path), directory);
        values.put("storage.dir", new ConfigValue("data", "default", base));
        List<String> problems = new ArrayList<>();
        if (path != null) {
            problems.addAll(read(directory.resolve(path), path, values));
        }
        return tryOverlay(surroundings, values, problems);
    }

    /**
     * Reads the sources that come after a file.
     *
     * @param surroundings environment and working directory
     * @param values what stands in the place of a file; changed
     * @return what to run with, checked key by key
     */
    EffectiveConfig overlay(Surroundings surroundings, Map<String, ConfigValue> values) {
        return tryOverlay(surroundings, values, new ArrayList<>()).requireBound();
    }

    private EffectiveConfig tryOverlay(
            Surroundings surroundings, Map<String, ConfigValue> values, List<String> problems) {
        ConfigSchema schema = EffectiveConfig.schema();
        Path directory = surroundings.directory();
        problems.addAll(EnvironmentKeys.read(surroundings.environment(), directory, schema, values));
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
