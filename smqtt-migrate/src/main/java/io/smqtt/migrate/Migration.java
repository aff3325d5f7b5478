// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.access.PasswordFile;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of another broker, mapped to this broker's keys. Access is never widened silently: if users or rules cannot
 * be migrated, all clients are refused, or the notes have {@code NOT ENFORCED}.
 */
public final class Migration {

    private static final String PASSWORD_FILE = "access.password-file";
    private static final String ACL_FILE = "access.acl-file";

    private final OldBroker broker;
    private final String shownAs;
    private final Map<String, Draft.Setting> settings;
    private final List<String> notes;
    private final Map<String, String> passwords;
    private final List<String> rules;
    private final Set<String> secrets;
    private final List<Draft.PrivateFile> privateFiles;
    private final boolean hasPasswordFile;

    private Migration(OldBroker broker, String shownAs, Draft draft) {
        this.broker = broker;
        this.shownAs = shownAs;
        this.settings = draft.settings();
        this.notes = draft.notes();
        this.passwords = draft.passwords();
        this.rules = draft.rules();
        this.secrets = draft.secrets();
        this.privateFiles = draft.privateFiles();
        this.hasPasswordFile = draft.needsUsers() || !passwords.isEmpty();
    }

    /**
     * Reads a file. Blocks.
     *
     * @param file the file, of at most 1 MiB and 10,000 keys
     * @param shownAs its name in messages
     * @param from the broker of the file, or null to detect it
     * @return what it says
     * @throws ConfigurationException if it cannot be read, is malformed, or has settings that cannot be mapped
     *     without accepting clients that the other broker refused; the messages name line and key
     */
    public static Migration read(Path file, String shownAs, @Nullable OldBroker from) {
        OldFile old = OldFile.read(file, shownAs);
        OldFormat format = OldFormat.of(old);
        OldBroker broker = from == null ? detect(old, format) : from;
        boolean lines = format == OldFormat.CONF;
        if (broker == OldBroker.emqx) { // HOCON includes JSON, and lines with an equals sign
            return new Migration(broker, shownAs, EmqxMapper.map(old));
        }
        if (format == OldFormat.OTHER || format == OldFormat.HOCON || lines != (broker != OldBroker.smqtt)) {
            throw new ConfigurationException(List.of(shownAs + ": is "
                    + (format == OldFormat.OTHER ? "" : "in the format ") + format.words() + ", but a configuration of "
                    + (broker == OldBroker.smqtt
                            ? "the former smqtt is in YAML, JSON or properties"
                            : broker + " has " + OldFormat.CONF.words())));
        }
        Draft draft = switch (broker) {
            case smqtt -> SmqttMapper.map(old, settings(old, format));
            case mosquitto -> MosquittoMapper.map(old);
            case moquette -> MoquetteMapper.map(old);
            case emqx -> EmqxMapper.map(old);
        };
        return new Migration(broker, shownAs, draft);
    }

    private static List<OldSetting> settings(OldFile file, OldFormat format) {
        return format == OldFormat.PROPERTIES ? OldProperties.read(file) : OldYaml.read(file);
    }

    /**
     * Detects a file of another broker by its name and its keys. A file with the root {@code smqtt} may belong to the former
     * smqtt, or to this broker in a Spring application; further keys decide.
     *
     * @param file a file that may not exist
     * @param ours the keys of this broker
     * @return the broker, or null if it may be a configuration of this one
     */
    public static @Nullable OldBroker recognise(Path file, ConfigSchema ours) {
        String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
        try {
            OldFile old = OldFile.read(file, name);
            OldFormat format = OldFormat.of(old);
            if (format == OldFormat.HOCON) {
                return OldBroker.emqx;
            }
            if (name.endsWith(".conf") && format == OldFormat.CONF) {
                OldBroker broker = detect(old, format);
                boolean known = ConfLines.read(old).stream()
                        .limit(1)
                        .anyMatch(first -> broker == OldBroker.moquette
                                ? MoquetteMapper.RULES.find(first.key()) != null
                                : MosquittoMapper.RULES.find(first.key()) != null);
                return known ? broker : null;
            }
            return format != OldFormat.CONF
                            && format != OldFormat.OTHER
                            && SmqttMapper.owns(settings(old, format), ours)
                    ? OldBroker.smqtt
                    : null;
        } catch (ConfigurationException e) {
            return null; // the reader of this broker's files reports the error
        }
    }

    private static OldBroker detect(OldFile file, OldFormat format) {
        if (format == OldFormat.OTHER) {
            throw new ConfigurationException(List.of(file.shownAs() + ": is " + format.words()
                    + ": YAML, JSON or properties of the former smqtt, mosquitto.conf, moquette.conf, emqx.conf"));
        }
        if (format == OldFormat.HOCON) {
            return OldBroker.emqx;
        }
        if (format != OldFormat.CONF) {
            return OldBroker.smqtt;
        }
        return MoquetteMapper.owns(ConfLines.read(file)) ? OldBroker.moquette : OldBroker.mosquitto;
    }

    /**
     * Reads settings of the former smqtt that are in no file.
     *
     * @param settings text by key, such as {@code smqtt.tcp.port}
     * @param shownAs their origin in messages
     * @return what they say
     * @throws ConfigurationException as {@link #read}
     */
    public static Migration ofSettings(Map<String, String> settings, String shownAs) {
        List<OldSetting> all = new ArrayList<>();
        all.add(new OldSetting("smqtt.tcp.options", "", shownAs));
        settings.forEach((key, value) -> all.add(new OldSetting(key, value, shownAs)));
        Draft draft = SmqttMapper.map(
                new OldFile(Path.of("smqtt"), shownAs, ""), all.subList(settings.isEmpty() ? 0 : 1, all.size()));
        return new Migration(OldBroker.smqtt, shownAs, draft);
    }

    /**
     * Whether the old settings contain users themselves.
     *
     * @return false if there is none
     */
    public boolean hasUsers() {
        return !passwords.isEmpty();
    }

    /**
     * Checks one of the users in the old settings, in a time that does not depend on the number of matching characters.
     *
     * @param user the user name
     * @param password UTF-8
     * @return whether there is such a user with that password
     */
    public boolean isUser(String user, byte[] password) {
        String expected = passwords.get(user);
        return expected != null && MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8), password);
    }

    /**
     * The broker that the file belongs to.
     *
     * @return one of four
     */
    public OldBroker broker() {
        return broker;
    }

    /**
     * The keys that have no counterpart or a different one: one line for each key, with file and line, and what to do.
     *
     * @return the notes in the order of the file; without secrets
     */
    public List<String> notes() {
        return Collections.unmodifiableList(notes);
    }

    /**
     * Returns this broker's keys for a file, in alphabetical order, without secrets.
     *
     * @param accessFiles the name of the files that {@link #writeAccessFiles} writes, without their extensions
     * @return text by key
     */
    public Map<String, String> settings(String accessFiles) {
        Map<String, String> texts = new LinkedHashMap<>();
        values(Path.of(""), accessFiles).forEach((key, value) -> {
            if (!secrets.contains(key)) {
                texts.put(key, String.valueOf(value.text()));
            }
        });
        return texts;
    }

    /**
     * Returns this broker's keys for a start without a new file.
     *
     * @param base the directory of the access files
     * @param accessFiles their name, without extensions
     * @return values by key, in alphabetical order
     */
    public Map<String, ConfigValue> values(Path base, String accessFiles) {
        Map<String, Draft.Setting> all = new TreeMap<>(settings);
        privateFiles.forEach(
                file -> all.put(file.key(), new Draft.Setting(accessFiles + "." + file.ending(), file.origin())));
        if (hasPasswordFile) {
            all.put(PASSWORD_FILE, new Draft.Setting(accessFiles + ".passwd", "the users of " + shownAs + ", hashed"));
        }
        if (!rules.isEmpty()) {
            all.put(ACL_FILE, new Draft.Setting(accessFiles + ".acl", "the rules of " + shownAs));
        }
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        all.forEach((key, setting) -> values.put(key, new ConfigValue(setting.text(), setting.origin(), base)));
        return values;
    }

    /**
     * Returns this broker's keys for the files that {@link #writeAccessFiles} writes.
     *
     * @return none, one or several
     */
    public Set<String> accessFileKeys() {
        Set<String> keys = new HashSet<>();
        privateFiles.forEach(file -> keys.add(file.key()));
        if (hasPasswordFile) {
            keys.add(PASSWORD_FILE);
        }
        if (!rules.isEmpty()) {
            keys.add(ACL_FILE);
        }
        return keys;
    }

    /**
     * Returns the origin of a value.
     *
     * @param key one of this broker's keys
     * @return file, line and key there, or the reason
     */
    public String origin(String key) {
        Draft.Setting setting = settings.get(key);
        return setting != null
                ? setting.origin()
                : privateFiles.stream()
                        .filter(file -> file.key().equals(key))
                        .map(Draft.PrivateFile::origin)
                        .findFirst()
                        .orElse(shownAs);
    }

    /**
     * Writes the users, rules and secrets of the old file: {@code NAME.passwd} and one file for each secret, for their owner only, and
     * {@code NAME.acl}. Writes nothing if there are none. Blocks.
     *
     * @param directory the directory, which is created for its owner only if it is missing
     * @param name the name of the files
     * @param replace whether existing files are replaced
     * @return the written files
     * @throws ConfigurationException if a file exists that must not be replaced, or cannot be written
     */
    public List<Path> writeAccessFiles(Path directory, String name, boolean replace) {
        List<Path> written = new ArrayList<>();
        Path users = directory.resolve(name + ".passwd");
        Path acl = directory.resolve(name + ".acl");
        try {
            if (!accessFileKeys().isEmpty() && !Files.isDirectory(directory)) {
                createPrivately(directory);
            }
            for (Draft.PrivateFile file : privateFiles) {
                Path secret = directory.resolve(name + "." + file.ending());
                requireAbsent(secret, replace);
                writePrivately(secret, file.text());
                written.add(secret);
            }
            if (hasPasswordFile) {
                requireAbsent(users, replace);
                PasswordFile hashed = PasswordFile.empty();
                passwords.forEach((user, password) -> hashed.set(user, password.getBytes(StandardCharsets.UTF_8)));
                hashed.write(users);
                written.add(users);
            }
            if (!rules.isEmpty()) {
                requireAbsent(acl, replace);
                Files.writeString(acl, String.join("\n", rules) + "\n");
                written.add(acl);
            }
            return written;
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(
                    List.of(shownAs + ": has a user that cannot be migrated: " + e.getMessage()));
        } catch (IOException e) {
            throw new ConfigurationException(List.of(directory + ": cannot be written to"));
        }
    }

    /** Creates a directory for its owner only, like the store. */
    private static void createPrivately(Path directory) throws IOException {
        Files.createDirectories(directory);
        if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        }
    }

    /** Writes a file that only its owner can read, from its first byte on. */
    private static void writePrivately(Path file, String text) throws IOException {
        Files.deleteIfExists(file);
        if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        Files.writeString(file, text.endsWith("\n") ? text : text + "\n");
    }

    private static void requireAbsent(Path file, boolean replace) {
        if (!replace && Files.exists(file)) {
            throw new ConfigurationException(List.of(file + ": exists already"));
        }
    }
}
