// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.ReloadResult;
import io.smqtt.config.ConfigurationException;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The password of a backend's account, from a key such as {@code password}, or from a file that a key such as {@code password-file} names. */
@AnyThread
public final class BackendSecret {

    private static final String FILE = "-file";

    private final BackendSettings settings;
    private final String key;
    private final @Nullable Path file;
    private volatile String text;

    private BackendSecret(BackendSettings settings, String key, @Nullable Path file, String text) {
        this.settings = settings;
        this.key = key;
        this.file = file;
        this.text = text;
    }

    /**
     * Finds the password. Blocks for a file.
     *
     * @param settings the settings of a backend that declares both keys
     * @param key the key of the password itself; with {@code -file} behind it that of the file
     * @return the password; null if neither key is set
     * @throws ConfigurationException if both are set, or the file cannot be read, with key and line
     */
    public static @Nullable BackendSecret of(BackendSettings settings, String key) {
        Path file = settings.file(key + FILE);
        String text = settings.textOrNull(key);
        if (file != null && text != null) {
            throw settings.problem(key + FILE, "cannot be set together with " + key);
        }
        if (file == null) {
            return text == null ? null : new BackendSecret(settings, key, null, text);
        }
        return new BackendSecret(settings, key, file, read(settings, key, file));
    }

    private static String read(BackendSettings settings, String key, Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw settings.problem(key + FILE, "cannot be read: " + file);
        }
    }

    /**
     * The password.
     *
     * @return as it was read last; may be empty
     */
    public String text() {
        return text;
    }

    /**
     * Reads the file again. If it cannot be read, or has nothing, the former password stays. Blocks.
     *
     * @return the file, or the problem; nothing if the password is not from a file
     */
    public ReloadResult reload() {
        if (file == null) {
            return ReloadResult.NOTHING;
        }
        try {
            String read = read(settings, key, file);
            if (read.isEmpty()) {
                throw settings.problem(key + FILE, "has no password: " + file);
            }
            text = read;
            return new ReloadResult(List.of(file.toString()), List.of());
        } catch (ConfigurationException e) {
            return new ReloadResult(List.of(), e.problems());
        }
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "BackendSecret[" + key + ']';
    }
}
