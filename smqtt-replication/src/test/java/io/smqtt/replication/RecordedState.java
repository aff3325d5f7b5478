// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A state that is the list of what was applied; its disk is this object. A checkpoint is a file with the index of the last entry and all
 * entries, one on a line. Thread-safe.
 */
final class RecordedState implements ReplicatedState {

    private static final String FILE = "entries";

    private final List<String> entries = new ArrayList<>();
    private long applied;
    private boolean failing;

    @Override
    public synchronized void open(Path directory) {
        try {
            Files.createDirectories(directory);
            if (Files.exists(directory.resolve(FILE))) {
                List<String> lines = Files.readAllLines(directory.resolve(FILE));
                if (Long.parseLong(lines.get(0)) > applied) {
                    applied = Long.parseLong(lines.get(0));
                    entries.clear();
                    entries.addAll(lines.subList(1, lines.size()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        // nothing is open
    }

    @Override
    public boolean isReplaceable() {
        return true;
    }

    @Override
    public synchronized long applied() {
        return applied;
    }

    @Override
    public synchronized void apply(long index, byte[] source, int offset, int length) {
        if (failing) {
            throw new IllegalStateException("as the test wants");
        }
        if (index <= applied) {
            throw new IllegalStateException("entry " + index + " comes again after " + applied);
        }
        applied = index;
        entries.add(new String(source, offset, length, StandardCharsets.UTF_8));
    }

    @Override
    public synchronized long persist() {
        return applied;
    }

    @Override
    public synchronized long checkpoint(Path directory) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(String.valueOf(applied));
        lines.addAll(entries);
        Files.createDirectories(directory);
        Files.write(directory.resolve(FILE), lines);
        return applied;
    }

    @Override
    public long verify(Path directory) throws IOException {
        return Long.parseLong(Files.readAllLines(directory.resolve(FILE)).get(0));
    }

    synchronized void failing() {
        failing = true;
    }

    synchronized List<String> entries() {
        return List.copyOf(entries);
    }
}
