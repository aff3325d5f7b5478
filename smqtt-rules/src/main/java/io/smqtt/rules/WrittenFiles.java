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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files that rules write. Each action has files of its own, because a second writer would overwrite the lines of the first; rules may share a file
 * of dead letters, which has one writer. Nor may a file have a name that another one gets when it is full.
 */
@AnyThread
final class WrittenFiles {

    /** The names that {@code name} gets, or has beside it, when it is full. */
    private static final Pattern FORMER = Pattern.compile("(?<name>.+)\\.(?:[0-9]+(?:\\.gz)?|gz\\.tmp|full(?:\\.gz)?)");

    /** The symbolic links of a path that are followed, as in operating systems. */
    private static final int MOST_LINKS = 40;

    private final Map<String, SinkFactory> types;
    private final Map<Path, String> writers = new HashMap<>();
    private final Map<Path, String> formerNames =
            new HashMap<>(); // the name without its number, and who writes it with one
    private final List<String> problems = new ArrayList<>();

    private WrittenFiles(Map<String, SinkFactory> types) {
        this.types = types;
    }

    /**
     * The problems of the files of rules, with key and line. The rules are in the order in which their files are taken.
     *
     * @param folder the folder of dead letters of rules that name no file; null if there is none
     */
    static List<String> problems(Map<String, RuleConfig> rules, Map<String, SinkFactory> types, @Nullable Path folder) {
        WrittenFiles files = new WrittenFiles(types);
        rules.forEach((name, rule) -> {
            Path letters = Rule.letterFile(name, rule, folder);
            if (letters != null) {
                files.addLetters(name, same(letters));
            }
        });
        rules.forEach((name, rule) -> rule.actions()
                .forEach((action, config) -> files.add("rules." + name + ".actions." + action + ".", config)));
        return files.problems;
    }

    /** Rules may have the same file of dead letters. */
    private void addLetters(String rule, Path file) {
        String problem = writers.containsKey(file) ? null : numberProblem(file);
        if (problem != null) {
            problems.add("rules." + rule + ".dead-letter-file, which is " + file + ", " + problem);
        } else {
            take(file, "for dead letters of rules." + rule);
        }
    }

    private void take(Path file, String writer) {
        writers.putIfAbsent(file, writer);
        Path unnumbered = unnumbered(file);
        if (unnumbered != null) {
            formerNames.putIfAbsent(unnumbered, writer);
        }
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
            String problem = file == null ? null : problem(same(file));
            if (problem != null) {
                problems.add(settings.problem(key, problem).getMessage());
            } else if (file != null) {
                take(same(file), "by " + block + key);
            }
        }
    }

    private @Nullable String problem(Path file) {
        String writer = writers.get(file);
        if (writer != null) {
            return "is a file that is also written " + writer
                    + "; a second writer would overwrite its lines, so each action needs a file of its own";
        }
        return numberProblem(file);
    }

    /** Whether one of two files gets the name of the other when it is full. */
    private @Nullable String numberProblem(Path file) {
        Path unnumbered = unnumbered(file);
        String writer = unnumbered == null ? null : writers.get(unnumbered);
        if (writer != null) {
            return "is a name that the file which is written " + writer
                    + " gets when it is full; choose a name that does not end so";
        }
        writer = formerNames.get(file);
        return writer == null
                ? null
                : "gets, when it is full, the name of the file that is written " + writer + "; choose another name";
    }

    /** The file that gets a name when it is full; null if it is no such name. */
    private static @Nullable Path unnumbered(Path file) {
        Path name = file.getFileName();
        Matcher former = FORMER.matcher(name == null ? "" : name.toString());
        return former.matches() ? file.resolveSibling(former.group("name")) : null;
    }

    /** The path of a file, the same for all names of it. Folders that do not exist yet are taken as they are named. */
    static Path same(Path file) {
        return same(file, MOST_LINKS);
    }

    private static Path same(Path file, int links) {
        Path path = file.toAbsolutePath().normalize();
        Path there = path;
        try {
            while (there != null && !Files.exists(there)) {
                if (links > 0 && Files.isSymbolicLink(there)) { // to what does not exist yet
                    Path target = there.resolveSibling(Files.readSymbolicLink(there));
                    return same(target.resolve(there.relativize(path)), links - 1);
                }
                there = there.getParent();
            }
            return there == null
                    ? path
                    : there.toRealPath().resolve(there.relativize(path)).normalize();
        } catch (IOException e) {
            return path; // it was removed in this moment
        }
    }
}
