// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.bootstrap.migrate.Migration;
import io.smqtt.bootstrap.migrate.OldBroker;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
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
            names = "--config",
            paramLabel = "FILE",
            description = "Configuration file, YAML. Without one the defaults hold. Also SMQTT_CONFIG.")
    @Nullable
    String file;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one key, such as listeners.tcp.port=1884. Can be repeated.")
    List<String> settings = new ArrayList<>();

    @Option(names = "--data", paramLabel = "DIR", description = "Data directory: the key storage.dir.")
    @Nullable
    String data;

    /**
     * Reads all sources.
     *
     * @param surroundings environment and working directory
     * @return what to run with, checked key by key
     */
    EffectiveConfig load(Surroundings surroundings) {
        Path directory = surroundings.directory();
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        String path = file != null ? file : surroundings.environment().get("SMQTT_CONFIG");
        // The only default that is relative: beside the configuration, as everything else in it.
        Path base = path == null ? directory : beside(directory.resolve(path), directory);
        values.put("storage.dir", new ConfigValue("data", "default", base));
        if (path != null) {
            read(directory.resolve(path), path, values);
        }
        return overlay(surroundings, values);
    }

    /**
     * Reads the sources that come after a file.
     *
     * @param surroundings environment and working directory
     * @param values what stands in the place of a file; changed
     * @return what to run with, checked key by key
     */
    EffectiveConfig overlay(Surroundings surroundings, Map<String, ConfigValue> values) {
        ConfigSchema schema = EffectiveConfig.schema();
        Path directory = surroundings.directory();
        EnvironmentKeys.read(surroundings.environment(), directory, schema, values);
        if (data != null) {
            values.put("storage.dir", new ConfigValue(data, "--data", directory));
        }
        for (String setting : settings) {
            int equals = setting.indexOf('=');
            if (equals <= 0) {
                throw usage("--set takes KEY=VALUE, but is " + setting);
            }
            String key = setting.substring(0, equals).trim();
            values.put(key, new ConfigValue(setting.substring(equals + 1).trim(), "--set " + key, directory));
        }
        return EffectiveConfig.bind(schema, values);
    }

    private static void read(Path file, String shownAs, Map<String, ConfigValue> values) {
        OldBroker other = Migration.recognise(file, EffectiveConfig.schema());
        if (other != null) {
            throw new ConfigurationException(List.of(shownAs + ": is a configuration of "
                    + (other == OldBroker.smqtt ? "the former smqtt" : other.name()) + "; bin/smqtt config migrate "
                    + shownAs + " -o smqtt.yaml writes it anew, bin/smqtt start --migrate " + shownAs
                    + " starts with it"));
        }
        try {
            YamlFile.read(file, shownAs, values);
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
