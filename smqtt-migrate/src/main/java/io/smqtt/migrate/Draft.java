// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
import io.smqtt.message.LogText;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The configuration that a mapper has built so far. */
final class Draft {

    /**
     * A value and its origin.
     *
     * @param text the value
     * @param origin file, line and key, or the reason for the value
     */
    record Setting(String text, String origin) {}

    /**
     * A file with a secret, which is written beside the configuration.
     *
     * @param key this broker's key for the file
     * @param ending what is added to the name of the configuration
     * @param text its content
     * @param origin file, line and key of the old file
     */
    record PrivateFile(String key, String ending, String text, String origin) {}

    private static final int MAX_NAME = 40;

    private final Path directory;
    private final Map<String, Setting> settings = new TreeMap<>();
    private final List<String> notes = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final Map<String, String> passwords = new LinkedHashMap<>();
    private final List<String> rules = new ArrayList<>();
    private final Set<String> secrets = new HashSet<>();
    private final List<PrivateFile> privateFiles = new ArrayList<>();
    private boolean needsUsers;

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

    /** Writes a secret to a file for its owner only, beside the configuration. */
    void privateFile(String key, String ending, String text, OldSetting from) {
        String origin = LogText.escapeControls(from.where() + " " + SecretMask.key(from.key()));
        privateFiles.add(new PrivateFile(key, ending, text, origin));
    }

    /** Requires a password file, also one without users. */
    void passwordFile(OldSetting from) {
        needsUsers = true;
        note(from, Outcome.DIFFERENT, "access.password-file: it has no users until you add them with bin/smqtt passwd");
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

    /** Removes all keys that begin with a prefix. */
    void dropBelow(String prefix) {
        settings.keySet().removeIf(key -> key.startsWith(prefix));
    }

    /** Removes a file with a secret. */
    void dropPrivate(String key) {
        privateFiles.removeIf(file -> file.key().equals(key));
    }

    /** A name that a block can have here, in place of another broker's: a to z, digits and hyphens. */
    static String plain(String name) {
        String text =
                name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-+|-+$", "");
        return text.isEmpty() ? "x" : text.length() > MAX_NAME ? text.substring(0, MAX_NAME) : text;
    }

    /** Adds a note about one key. */
    void note(OldSetting about, Outcome outcome, String text) {
        notes.add(LogText.escapeControls(about + ": " + outcome.word() + "; " + text));
    }

    /** Adds a note that belongs to no single key. */
    void note(String where, Outcome outcome, String text) {
        notes.add(LogText.escapeControls(where + ": " + outcome.word() + "; " + text));
    }

    /** Sorts the notes about lines of a file by these lines; others stay behind them. */
    void sortNotes(OldFile file) {
        Pattern line = Pattern.compile(Pattern.quote(LogText.escapeControls(file.shownAs())) + ":([0-9]{1,7}): .*");
        notes.sort(Comparator.comparingInt(note -> {
            Matcher place = line.matcher(note);
            return place.matches() ? Integer.parseInt(place.group(1)) : Integer.MAX_VALUE;
        }));
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
        switch (setting.value().strip().toLowerCase(Locale.ROOT)) {
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

    List<PrivateFile> privateFiles() {
        return privateFiles;
    }

    boolean needsUsers() {
        return needsUsers;
    }
}
