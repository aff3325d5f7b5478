// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.FileProblem;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Environment variables as keys: {@code SMQTT_LISTENERS__TCP__PORT} is {@code listeners.tcp.port}. Two underscores are a
 * level, one is a hyphen. A secret can be left in a file whose name is in the variable with {@code _FILE} behind it.
 *
 * <p>Names that an orchestrator sets for a service called smqtt ({@code SMQTT_SERVICE_HOST}, {@code SMQTT_PORT_1883_TCP})
 * are none of ours and are left alone.
 */
final class EnvironmentKeys {

    private static final String PREFIX = "SMQTT_";
    private static final String FILE = "_FILE";

    /** What the start script and the program itself read. */
    private static final Set<String> RESERVED = Set.of(
            "SMQTT_CONFIG",
            "SMQTT_HOME",
            "SMQTT_JAVA_OPTS",
            "SMQTT_CACHE_DIR",
            "SMQTT_LOG_FORMAT",
            "SMQTT_MEMORY",
            "SMQTT_PROFILE");

    private EnvironmentKeys() {}

    /**
     * Reads variables.
     *
     * @param environment name to value
     * @param directory what relative paths are relative to
     * @param schema tells secrets
     * @param values where keys are put, over what is there
     * @return what is wrong with the files of secrets, one sentence each
     */
    static List<String> read(
            Map<String, String> environment, Path directory, ConfigSchema schema, Map<String, ConfigValue> values) {
        List<String> problems = new ArrayList<>();
        String format = environment.get("SMQTT_LOG_FORMAT");
        if (format != null) {
            values.put("logging.format", new ConfigValue(format, "environment SMQTT_LOG_FORMAT", directory));
        }
        new TreeMap<>(environment).forEach((name, text) -> {
            if (name.startsWith(PREFIX) && !RESERVED.contains(name) && !serviceLink(name, text)) {
                put(name, text, directory, schema, values, problems);
            }
        });
        return problems;
    }

    /** The names that look like ours but are an orchestrator's, in their order: what {@link #read} leaves alone. */
    static List<String> leftAlone(Map<String, String> environment) {
        return environment.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(PREFIX) && serviceLink(entry.getKey(), entry.getValue()))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    private static void put(
            String name,
            String text,
            Path directory,
            ConfigSchema schema,
            Map<String, ConfigValue> values,
            List<String> problems) {
        String origin = "environment " + name;
        if (name.endsWith(FILE) && secret(key(name.substring(0, name.length() - FILE.length())), schema)) {
            String secretKey = key(name.substring(0, name.length() - FILE.length()));
            String secret = content(text, directory, origin, problems);
            if (secret != null) {
                values.put(secretKey, new ConfigValue(secret, origin, directory));
            }
        } else {
            values.put(key(name), new ConfigValue(text, origin, directory));
        }
    }

    private static String key(String name) {
        return name.substring(PREFIX.length())
                .toLowerCase(Locale.ROOT)
                .replace("__", ".")
                .replace('_', '-');
    }

    private static boolean secret(String key, ConfigSchema schema) {
        for (ConfigKey known : schema.describe()) {
            if (known.secret() && known.name().equals(key)) {
                return true;
            }
        }
        return false;
    }

    /** The name is not shown: somebody may have put the secret itself there. */
    private static @Nullable String content(String name, Path directory, String origin, List<String> problems) {
        try {
            Path file = directory.resolve(name);
            try {
                return Files.readString(file).strip();
            } catch (CharacterCodingException e) {
                problems.add(origin + ": the file that it names is not in UTF-8");
            } catch (IOException e) {
                problems.add(origin + ": the file that it names " + FileProblem.reason(file, e));
            }
        } catch (InvalidPathException e) {
            problems.add(origin + ": must name a file, and does not");
        }
        return null;
    }

    /** The value tells {@code SMQTT_PORT} of a service, which is a URL, from a key that was misspelt. */
    private static boolean serviceLink(String name, String value) {
        return !name.contains("__")
                && (name.matches("SMQTT_([A-Z0-9_]+_)?SERVICE_(HOST|PORT)(_.*)?")
                        || name.matches("SMQTT_([A-Z0-9_]+_)?PORT_[0-9]+_(TCP|UDP|SCTP)(_.*)?")
                        || (name.matches("SMQTT_([A-Z0-9_]+_)?PORT") && value.matches("(tcp|udp|sctp)://.*")));
    }
}
