// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A configuration, or a file that it names, cannot be used. The broker does not start. The message names keys in kebab-case and never
 * contains a secret.
 */
public final class ConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final @Nullable String key;
    private final List<String> problems;

    /**
     * Reports one problem.
     *
     * @param message what is wrong, where (for a file {@code file:line}), and what to do; without secrets
     */
    public ConfigurationException(String message) {
        super(message);
        this.key = null;
        this.problems = List.of(message);
    }

    /**
     * Reports one problem.
     *
     * @param message what is wrong, where (for a file {@code file:line}), and what to do; without secrets
     * @param cause the cause, or null
     */
    public ConfigurationException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.key = null;
        this.problems = List.of(message);
    }

    /**
     * Reports a problem of one key.
     *
     * @param key the key, such as {@code limits.max-in-flight}
     * @param problem the problem, as the rest of a sentence that begins with the key
     */
    public ConfigurationException(String key, String problem) {
        super(key + " " + problem);
        this.key = key;
        this.problems = List.of(key + " " + problem);
    }

    /**
     * Reports several problems. Problems of files come first, file by file and in the order of their lines.
     *
     * @param problems one sentence each
     */
    public ConfigurationException(List<String> problems) {
        super(String.join(System.lineSeparator(), ProblemOrder.byLine(problems)));
        this.key = null;
        this.problems = ProblemOrder.byLine(problems);
    }

    /**
     * The key that is wrong.
     *
     * @return null if several keys are wrong, or a file
     */
    public @Nullable String key() {
        return key;
    }

    /**
     * All problems.
     *
     * @return one sentence each
     */
    public List<String> problems() {
        return problems;
    }
}
