// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import io.smqtt.ReloadResult;
import io.smqtt.admin.JsonFields;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.FileProblem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The users and API keys of files, which are read-only at the port. A line of the users is {@code name:hash:role}, one of the keys
 * {@code key:secret:role} or {@code key:$sha256$hash:role}; a line may be empty, or a comment after {@code #}. Not thread-safe.
 */
public final class AccountFiles {

    private static final Logger LOG = LoggerFactory.getLogger(AccountFiles.class);
    private static final long MAXIMUM_BYTES = 1 << 20;
    private static final int MAX_PROBLEMS = 20;
    private static final int MIN_SECRET = 16;
    private static final String HASHED = "$sha256$";

    private final @Nullable Path usersFile;
    private final @Nullable Path keysFile;
    private final Accounts accounts;

    // of the last files that could be read
    private Map<String, User> users;
    private Map<String, ApiKey> keys;

    /**
     * Reads the files. Blocks.
     *
     * @param usersFile the users; null for none
     * @param keysFile the API keys; null for none
     * @param accounts gets them
     * @throws ConfigurationException if a file cannot be used, with file and line of each problem
     */
    public AccountFiles(@Nullable Path usersFile, @Nullable Path keysFile, Accounts accounts) {
        this.usersFile = usersFile;
        this.keysFile = keysFile;
        this.accounts = accounts;
        List<String> problems = new ArrayList<>();
        users = first(usersFile, AccountFiles::readUsers, problems);
        keys = first(keysFile, AccountFiles::readKeys, problems);
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        accounts.users().configured(users);
        accounts.keys().configured(keys);
    }

    private static <T> Map<String, T> first(
            @Nullable Path file, Function<Path, Map<String, T>> reader, List<String> problems) {
        try {
            return file == null ? Map.of() : reader.apply(file);
        } catch (ConfigurationException e) {
            problems.addAll(e.problems());
            return Map.of();
        }
    }

    /**
     * Finds files with secrets that every user of this machine can read. Blocks.
     *
     * @param usersFile the users; null for none
     * @param keysFile the API keys; null for none
     * @return a sentence for each, with the key of the configuration; none where files have no such permissions
     */
    public static List<String> warnings(@Nullable Path usersFile, @Nullable Path keysFile) {
        List<String> all = new ArrayList<>();
        warn("management.users-file", usersFile, all);
        warn("management.api-keys-file", keysFile, all);
        return all;
    }

    private static void warn(String key, @Nullable Path file, List<String> all) {
        try {
            if (file != null && Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
                all.add(key + ": " + file + " is readable by every user of this machine; change its permissions with"
                        + " chmod 600");
            }
        } catch (UnsupportedOperationException | IOException e) {
            LOG.debug("permissions of {} are not known", file, e);
        }
    }

    /**
     * Reads the files again. The former content of a file that cannot be used, or that has lost all its lines, stays in force. Blocks.
     *
     * @return what was read
     */
    public ReloadResult reload() {
        List<String> read = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        if (usersFile != null) {
            users = again(usersFile, users, AccountFiles::readUsers, read, problems);
            accounts.users().configured(users);
        }
        if (keysFile != null) {
            keys = again(keysFile, keys, AccountFiles::readKeys, read, problems);
            accounts.keys().configured(keys);
        }
        return new ReloadResult(read, problems);
    }

    private static <T> Map<String, T> again(
            Path file,
            Map<String, T> before,
            Function<Path, Map<String, T>> reader,
            List<String> read,
            List<String> problems) {
        try {
            Map<String, T> fresh = reader.apply(file);
            if (fresh.isEmpty() && !before.isEmpty()) {
                problems.add(file + ": has no line any more; is it truncated? To use none, remove the key");
                return before;
            }
            read.add(file.toString());
            return fresh;
        } catch (ConfigurationException e) {
            problems.addAll(e.problems());
            return before;
        }
    }

    /** Makes an object of the parts of a line. */
    @FunctionalInterface
    private interface Reader<T> {

        T read(String name, String secret, String role);
    }

    private static Map<String, User> readUsers(Path file) {
        Formats.Users format = new Formats.Users();
        return read(
                file,
                "name:hash:role",
                (name, hash, role) -> format.read(
                        name, JsonFields.of(Map.of("password_hash", hash, "role", role, "description", ""))));
    }

    private static Map<String, ApiKey> readKeys(Path file) {
        Formats.Keys format = new Formats.Keys();
        return read(file, "key:secret:role", (key, secret, role) -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("key", key);
            fields.put("secret_sha256", hash(secret));
            fields.put("role", role);
            fields.put("enable", true);
            fields.put("created_at", 0);
            fields.put("desc", "");
            return format.read(key, JsonFields.of(fields));
        });
    }

    private static String hash(String secret) {
        if (secret.startsWith(HASHED)) {
            return secret.substring(HASHED.length());
        }
        if (secret.length() < MIN_SECRET) {
            throw new IllegalArgumentException("the secret has less than " + MIN_SECRET + " characters");
        }
        return Secrets.sha256(secret);
    }

    private static <T> Map<String, T> read(Path file, String form, Reader<T> reader) {
        Map<String, T> all = new LinkedHashMap<>();
        List<String> problems = new ArrayList<>();
        int number = 0;
        for (String line : lines(file)) {
            number++;
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            try {
                String[] parts = line.strip().split(":", -1);
                if (parts.length != 3) {
                    throw new IllegalArgumentException("the line is not of the form " + form);
                }
                if (all.put(parts[0], reader.read(parts[0], parts[1], parts[2])) != null) {
                    throw new IllegalArgumentException("the name exists twice");
                }
            } catch (IllegalArgumentException e) { // no message quotes a secret
                problems.add(file + ":" + number + ": " + e.getMessage());
            }
        }
        if (!problems.isEmpty()) {
            throw new ConfigurationException(
                    problems.stream().limit(MAX_PROBLEMS).collect(Collectors.toList()));
        }
        return all;
    }

    private static List<String> lines(Path file) {
        try {
            if (Files.size(file) > MAXIMUM_BYTES) {
                throw new ConfigurationException(file + ": is larger than 1 MiB; is this the right file?");
            }
            return Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new ConfigurationException(file + ": the file " + FileProblem.reason(file, e));
        }
    }
}
