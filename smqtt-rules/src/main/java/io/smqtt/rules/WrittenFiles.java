// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleConfig;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The files that rules write. Each action has files of its own, because a second writer would overwrite the lines of the first; rules may share a file
 * of dead letters, which has one writer.
 */
@AnyThread
final class WrittenFiles {

    private final Map<String, SinkFactory> types;
    private final Map<Path, String> writers = new HashMap<>();
    private final List<String> problems = new ArrayList<>();

    private WrittenFiles(Map<String, SinkFactory> types) {
        this.types = types;
    }

    /** The problems of the files of rules, with key and line. The rules are in the order in which their files are taken. */
    static List<String> problems(Map<String, RuleConfig> rules, Map<String, SinkFactory> types) {
        WrittenFiles files = new WrittenFiles(types);
        rules.forEach((name, rule) -> {
            Path letters = rule.deadLetterFile();
            if (letters != null) {
                files.writers.put(same(letters), "for dead letters");
            }
        });
        rules.forEach((name, rule) -> rule.actions()
                .forEach((action, config) -> files.add("rules." + name + ".actions." + action + ".", config)));
        return files.problems;
    }

    private void add(String block, RuleActionConfig config) {
        SinkFactory factory = types.get(config.type());
        if (factory == null) {
            return; // told elsewhere
        }
        SinkSettings settings;
        try {
            settings = SinkSettings.of(block, factory.settings(), config.settings());
        } catch (ConfigurationException e) {
            return; // told elsewhere
        }
        for (String key : factory.writtenFiles()) {
            Path file = settings.file(key);
            String other = file == null ? null : writers.putIfAbsent(same(file), "by " + block + key);
            if (other != null) {
                problems.add(settings.problem(
                                key,
                                "is a file that is also written " + other
                                        + "; a second writer would overwrite its lines, so each action needs a file of its own")
                        .getMessage());
            }
        }
    }

    /** The path of a file, the same for all names of it. */
    static Path same(Path file) {
        Path path = file.toAbsolutePath().normalize();
        Path folder = path.getParent();
        Path name = path.getFileName();
        try {
            return Files.exists(path) || folder == null || name == null
                    ? path.toRealPath()
                    : folder.toRealPath().resolve(name);
        } catch (IOException e) {
            return path; // the folder is made later
        }
    }
}
