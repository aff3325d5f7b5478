// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigurationException;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads passwords and secrets from a file, from the terminal, or line by line from standard input. They are no arguments,
 * because everybody on a machine can read the arguments of a process.
 */
final class SecretInput {

    private final ProgramContext program;
    private @Nullable BufferedReader lines;

    SecretInput(ProgramContext program) {
        this.program = program;
    }

    /** What was typed twice differs. */
    static final class DifferentException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        DifferentException() {
            super("the passwords differ");
        }
    }

    /**
     * Reads a secret that exists.
     *
     * @param file whose first line it is; null for the terminal or standard input
     * @param prompt what the terminal shows
     */
    String existing(@Nullable String file, String prompt) throws IOException {
        Console console = System.console();
        if (file != null) {
            return line(file);
        }
        if (console == null) {
            return line();
        }
        char[] typed = console.readPassword("%s: ", prompt);
        return typed == null ? "" : new String(typed);
    }

    /**
     * Reads a new password, on a terminal twice.
     *
     * @param file whose first line it is; null for the terminal or standard input
     * @throws DifferentException if the second is another one
     */
    String chosen(@Nullable String file) throws IOException {
        Console console = System.console();
        if (file != null) {
            return line(file);
        }
        if (console == null) {
            return line();
        }
        char[] first = console.readPassword("New password: ");
        char[] second = console.readPassword("Again: ");
        if (first == null || !Arrays.equals(first, second)) {
            throw new DifferentException();
        }
        return new String(first);
    }

    private String line() throws IOException {
        BufferedReader input = lines;
        if (input == null) { // not closed: standard input belongs to the process
            input = new BufferedReader(new InputStreamReader(program.in(), StandardCharsets.UTF_8));
            lines = input;
        }
        String line = input.readLine();
        return line == null ? "" : line;
    }

    private String line(String file) {
        try (BufferedReader reader = Files.newBufferedReader(program.directory().resolve(file))) {
            String line = reader.readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            throw new ConfigurationException(
                    file + ": cannot be read (" + e.getClass().getSimpleName() + "); its first line is the secret");
        }
    }
}
