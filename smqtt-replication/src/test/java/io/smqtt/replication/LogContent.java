// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jgroups.Address;
import org.jgroups.protocols.raft.Log;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jspecify.annotations.Nullable;

/** All that a log has, to be compared. */
record LogContent(long term, @Nullable Address vote, long first, long last, long commit, List<String> entries) {

    static LogContent of(Log log) {
        List<String> entries = new ArrayList<>();
        log.forEach((entry, index) -> entries.add(index + " " + text(entry)));
        return new LogContent(
                log.currentTerm(), log.votedFor(), log.firstAppended(), log.lastAppended(), log.commitIndex(), entries);
    }

    static String text(LogEntry entry) {
        byte[] command = entry.command();
        return entry.term()
                + (entry.internal() ? " internal " : " ")
                + (command == null
                        ? "none"
                        : new String(command, entry.offset(), entry.length(), StandardCharsets.ISO_8859_1));
    }

    static LogEntry entry(long term, String command) {
        return new LogEntry(term, command.getBytes(StandardCharsets.ISO_8859_1));
    }

    static LogEntries entries(long term, String... commands) {
        LogEntries entries = new LogEntries();
        for (String command : commands) {
            entries.add(entry(term, command));
        }
        return entries;
    }

    /** Opens a log that must not fail. */
    static RocksRaftLog open(Path directory) {
        RocksRaftLog log = new RocksRaftLog(true, failure -> {});
        log.init(directory.toString(), null);
        return log;
    }

    /** Reads a log and closes it. */
    static LogContent read(Path directory) throws IOException {
        try (RocksRaftLog log = open(directory)) {
            return of(log);
        }
    }

    /** Copies the files of a log as they are, as the end of the process would leave them. Nothing writes meanwhile. */
    static void copy(Path from, Path to) {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                String name = from.relativize(file).toString();
                if (!name.startsWith("native") && Files.isRegularFile(file)) {
                    Path target = name.isEmpty() ? to : to.resolve(name);
                    Files.createDirectories(target.getParent());
                    Files.copy(file, target);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
