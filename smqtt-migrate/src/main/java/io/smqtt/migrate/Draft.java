// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
import io.smqtt.message.LogText;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The configuration that a mapper has built so far. */
final class Draft {

    /**
     * A value and its origin.
     *
     * @param text the value
     * @param origin file, line and key, or the reason for the value
     */
    record Setting(String text, String origin) {}

    private final Path directory;
    private final Map<String, Setting> settings = new TreeMap<>();
    private final List<String> notes = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final Map<String, String> passwords = new LinkedHashMap<>();
    private final List<String> rules = new ArrayList<>();
    private final Set<String> secrets = new HashSet<>();

    Draft(Path directory) {
        this.directory = directory;
    }

    /** Sets a value from a setting of the old file. */
    void set(String key, String text, OldSetting from) {
        if (text.contains("://") && !text.equals(SecretMask.text(text)) && secrets.add(key)) {
            note(
                    from,
                    Outcome.DIFFERENT,
                    key + ": is not written, because the URL holds a secret; set it by the environment");
        }
        settings.put(key, new Setting(text, LogText.escapeControls(from.where() + " " + SecretMask.key(from.key()))));
    }

    /** Sets a secret value, which must not be in a file in clear text. */
    void secret(String key, String text, OldSetting from) {
        set(key, text, from);
        secrets.add(key);
    }

    /** Sets a value that is a default of the other broker. */
    void byDefault(String key, String text, String why) {
        settings.putIfAbsent(key, new Setting(text, why));
    }

    boolean has(String key) {
        return settings.containsKey(key);
    }

    /** The value of a key; empty if it is not set. */
    String get(String key) {
        Setting setting = settings.get(key);
        return setting == null ? "" : setting.text();
    }

    void drop(String key) {
        settings.remove(key);
    }

    /** Adds a note about one key. */
    void note(OldSetting about, Outcome outcome, String text) {
        notes.add(LogText.escapeControls(about + ": " + outcome.word() + "; " + text));
    }

    /** Adds a note that belongs to no single key. */
    void note(String where, Outcome outcome, String text) {
        notes.add(LogText.escapeControls(where + ": " + outcome.word() + "; " + text));
    }

    void problem(OldSetting about, String text) {
        problems.add(LogText.escapeControls(about + " " + text));
    }

    /** Adds a user, whose password is hashed before it is written anywhere. */
    void user(String name, String password) {
        passwords.put(name, password);
    }

    boolean hasUser(String name) {
        return passwords.containsKey(name);
    }

    /** Adds a line of an access file. */
    void rule(String line) {
        rules.add(line);
    }

    boolean bool(OldSetting setting) {
        switch (setting.value().strip().toLowerCase(java.util.Locale.ROOT)) {
            case "true", "1", "yes", "on" -> {
                return true;
            }
            case "false", "0", "no", "off", "" -> {
                return false;
            }
            default -> {
                problem(setting, "must be true or false");
                return false;
            }
        }
    }

    /** Reads an integer; 0 and a recorded problem if it is not one. */
    long number(OldSetting setting) {
        try {
            return Long.parseLong(setting.value().strip());
        } catch (NumberFormatException e) {
            problem(setting, "must be an integer");
            return 0;
        }
    }

    /** Makes a path absolute that is relative to the folder of the old file. */
    String path(OldSetting setting) {
        return path(setting, directory);
    }

    /** Makes a path absolute that is relative to a folder. */
    String path(OldSetting setting, Path folder) {
        try {
            return folder.resolve(setting.value().strip()).normalize().toString();
        } catch (InvalidPathException e) {
            problem(setting, "is no path");
            return "";
        }
    }

    /** Returns this draft, unless it has problems. */
    Draft finished() {
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return this;
    }

    Map<String, Setting> settings() {
        return settings;
    }

    List<String> notes() {
        return notes;
    }

    Map<String, String> passwords() {
        return passwords;
    }

    List<String> rules() {
        return rules;
    }

    Set<String> secrets() {
        return secrets;
    }
}
