// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static io.smqtt.replication.LogContent.entries;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.spi.StoreDamagedException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.jgroups.protocols.raft.LogEntry;
import org.jgroups.util.ExtendedUUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The remains of a log when the process, or the machine, ends. */
class RaftLogCrashTest {

    @TempDir
    private Path folder;

    @Test
    void eachChangeIsThereAfterTheEndOfTheProcess() throws IOException {
        List<Change> changes = List.of(
                log -> {},
                log -> log.currentTerm(3),
                log -> log.votedFor(ExtendedUUID.randomUUID("a")),
                log -> log.append(1, entries(3, "a")),
                log -> log.append(2, entries(4, "b", "x".repeat(100_000), "c", "d")),
                log -> log.commitIndex(3),
                log -> log.truncate(2),
                log -> log.deleteAllEntriesStartingFrom(4),
                log -> log.append(4, entries(5, "e")),
                log -> log.votedFor(null),
                log -> log.commitIndex(4),
                log -> log.reinitializeTo(50, new LogEntry(6, null)),
                log -> log.append(51, entries(6, "f")));
        Path directory = folder.resolve("log");
        try (RocksRaftLog log = LogContent.open(directory)) {
            for (int i = 0; i < changes.size(); i++) {
                changes.get(i).on(log);
                Path copy = folder.resolve("copy" + i);
                LogContent.copy(directory, copy);
                assertThat(LogContent.read(copy)).as("change %d", i).isEqualTo(LogContent.of(log));
            }
        }
    }

    /** The commit index is written, and not synced: what a power loss leaves of that write is no damage. */
    @Test
    void aWriteThatWasNotSyncedMayBeCutOff() throws IOException {
        Path directory = folder.resolve("log");
        try (RocksRaftLog log = LogContent.open(directory)) {
            log.append(1, entries(1, "a", "b"));
            long before = Files.size(writeAheadLog(directory));
            log.commitIndex(2);
            long after = Files.size(writeAheadLog(directory));
            assertThat(after).isGreaterThan(before);
            for (long end = after - 1; end >= before; end -= 9) {
                Path copy = folder.resolve("cut" + end);
                LogContent.copy(directory, copy);
                cut(writeAheadLog(copy), end);
                LogContent found = LogContent.read(copy);
                assertThat(found.entries()).containsExactly("1 1 a", "2 1 b");
                assertThat(found.commit()).isZero();
            }
        }
    }

    @Test
    void aWriteThatWasSyncedIsMissed() throws IOException {
        Path directory = folder.resolve("log");
        try (RocksRaftLog log = LogContent.open(directory)) {
            log.append(1, entries(1, "a", "b"));
            long before = Files.size(writeAheadLog(directory));
            log.votedFor(ExtendedUUID.randomUUID("a"));
            long after = Files.size(writeAheadLog(directory));
            for (long end = after - 1; end >= before; end -= 9) {
                Path copy = folder.resolve("cut" + end);
                LogContent.copy(directory, copy);
                cut(writeAheadLog(copy), end);
                for (int attempt = 0; attempt < 2; attempt++) {
                    assertThatThrownBy(() -> LogContent.read(copy))
                            .isInstanceOf(StoreDamagedException.class)
                            .hasMessage("the replica in " + copy
                                    + " is damaged: its changes 3 to 3 are missing, behind entry 2. Nothing of it was"
                                    + " applied. If the other nodes with replicas are running, remove this directory and"
                                    + " start again: they rebuild it. Otherwise restore a backup.");
                }
            }
        }
    }

    @Test
    void aLogThatWasNotCompletedIsCreatedAgain() throws IOException {
        Path directory = folder.resolve("log");
        LogContent.open(directory).close();
        Files.delete(directory.resolve("synced"));

        assertThat(LogContent.read(directory).last()).isZero();
        assertThat(directory.resolve("synced")).exists();
    }

    @Test
    void aLogWithoutItsMarkIsDamaged() throws IOException {
        Path directory = folder.resolve("log");
        try (RocksRaftLog log = LogContent.open(directory)) {
            log.append(1, entries(1, "a"));
        }
        Files.delete(directory.resolve("synced"));

        assertThatThrownBy(() -> LogContent.read(directory))
                .isInstanceOf(StoreDamagedException.class)
                .hasMessageContaining("its file synced is missing");
    }

    private static Path writeAheadLog(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("db"))) {
            return files.filter(file -> file.toString().endsWith(".log"))
                    .max(Path::compareTo)
                    .orElseThrow();
        }
    }

    private static void cut(Path file, long end) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(end);
        }
    }

    private interface Change {
        void on(RocksRaftLog log) throws IOException;
    }
}
