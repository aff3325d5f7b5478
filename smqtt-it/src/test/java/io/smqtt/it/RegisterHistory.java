// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads and writes of registers, and a check of them by Porcupine. Safe for use by several threads. */
final class RegisterHistory {

    private static final Path CHECKER =
            Path.of("src", "test", "resources", "linearizability").toAbsolutePath();
    private static final Path GO = Path.of("..", ".ci", "go").toAbsolutePath().normalize();
    private static final long NEVER = Long.MAX_VALUE;

    private final List<Operation> operations = new ArrayList<>();

    /** An operation of a client, with the times of {@link System#nanoTime()}. */
    private record Operation(String register, int client, boolean write, int value, long call, long end) {

        @Override
        public String toString() {
            return String.join(
                    " ",
                    register,
                    String.valueOf(client),
                    write ? "write" : "read",
                    String.valueOf(value),
                    String.valueOf(call),
                    String.valueOf(end));
        }
    }

    /** A value was read. */
    void read(String register, int client, int value, long call) {
        read(register, client, value, call, System.nanoTime());
    }

    /** The same, until a moment. */
    synchronized void read(String register, int client, int value, long call, long end) {
        operations.add(new Operation(register, client, false, value, call, end));
    }

    /** A value was written. */
    void written(String register, int client, int value, long call) {
        written(register, client, value, call, System.nanoTime());
    }

    /** The same, until a moment. */
    synchronized void written(String register, int client, int value, long call, long end) {
        operations.add(new Operation(register, client, true, value, call, end));
    }

    /** A value may have been written, or is written later. */
    synchronized void attempted(String register, int client, int value, long call) {
        operations.add(new Operation(register, client, true, value, call, NEVER));
    }

    synchronized int size() {
        return operations.size();
    }

    /** The history with one read more, after the end, of a value that was overwritten. */
    synchronized RegisterHistory withStaleRead() {
        RegisterHistory stale = new RegisterHistory();
        stale.operations.addAll(operations);
        Operation first = operations.stream()
                .filter(each -> each.write && each.end != NEVER && each.value != 0)
                .findFirst()
                .orElseThrow();
        stale.read(first.register, first.client, first.value, System.nanoTime());
        return stale;
    }

    /** The operations without the writes that no client knows of: such a write may have no effect before the end. */
    private synchronized List<String> lines() {
        Set<String> seen = new HashSet<>();
        operations.stream().filter(each -> !each.write).forEach(each -> seen.add(each.register + ' ' + each.value));
        return operations.stream()
                .filter(each -> each.end != NEVER || seen.contains(each.register + ' ' + each.value))
                .map(Operation::toString)
                .toList();
    }

    /**
     * Begins a check of the history, which ends with code 0 if it is linearizable, and 1 if it is not.
     *
     * @param file where it is kept
     */
    CapturedProcess check(Path file) {
        try {
            Files.write(file, lines());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return CapturedProcess.start(
                "linearizability",
                new ProcessBuilder("bash", "-c", "exec \"$(\"$0\")\" run .", GO.toString())
                        .directory(CHECKER.toFile())
                        .redirectInput(file.toFile()));
    }
}
