// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.jgroups.Address;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jgroups.util.ExtendedUUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random operations on a log, compared with a map. */
@Tag("slow")
class RaftLogModelTest {

    private static final int OPERATIONS = 1_000;

    private final long seed = Long.getLong("log.seed", 20);
    private final Random random = new Random(seed);
    private final Address[] members = {ExtendedUUID.randomUUID("a"), ExtendedUUID.randomUUID("b")};
    private final TreeMap<Long, LogEntry> entries = new TreeMap<>();

    private long term;
    private @Nullable Address vote;
    private long first;
    private long last;
    private long commit;

    @TempDir
    private Path folder;

    @Test
    void aLogDoesWhatAMapDoes() throws IOException {
        Path directory = folder.resolve("log");
        RocksRaftLog log = LogContent.open(directory);
        try {
            for (int i = 0; i < OPERATIONS; i++) {
                if (random.nextInt(50) == 0) {
                    log.close();
                    log = LogContent.open(directory);
                }
                step(log);
                assertThat(LogContent.of(log))
                        .as("seed %d, operation %d", seed, i)
                        .isEqualTo(expected());
            }
        } finally {
            log.close();
        }
        assertThat(last).isGreaterThan(500);
        assertThat(LogContent.read(directory)).isEqualTo(expected());
    }

    private void step(RocksRaftLog log) {
        switch (random.nextInt(14)) {
            case 0 -> {
                if (random.nextBoolean()) {
                    term++;
                    vote = null;
                }
                log.currentTerm(term);
            }
            case 1 -> {
                Address next = random.nextBoolean() ? members[random.nextInt(2)] : null;
                vote = next == null ? vote : next;
                log.votedFor(next);
            }
            case 2, 3 -> commit(log);
            case 4 -> truncate(log, commit - random.nextInt(5));
            case 5, 6 -> removeSuffix(log);
            case 7 -> startAnew(log);
            default -> append(log);
        }
    }

    private void append(RocksRaftLog log) {
        LogEntries added = new LogEntries();
        int count = 1 + random.nextInt(5);
        for (int i = 0; i < count; i++) {
            byte[] command = new byte[random.nextInt(200)];
            random.nextBytes(command);
            LogEntry entry = new LogEntry(term, command, 0, command.length, random.nextInt(9) == 0);
            added.add(entry);
            entries.put(last + 1 + i, entry);
        }
        assertThat(log.append(last + 1, added)).isEqualTo(last + count);
        last += count;
    }

    private void commit(RocksRaftLog log) {
        commit += last > commit ? random.nextInt((int) (last - commit)) : 0;
        log.commitIndex(commit);
    }

    private void truncate(RocksRaftLog log, long index) {
        log.truncate(index);
        if (index > first) {
            first = index;
            entries.headMap(index).clear();
        }
    }

    private void removeSuffix(RocksRaftLog log) {
        if (last > commit) {
            long start = commit + 1 + random.nextInt((int) (last - commit));
            log.deleteAllEntriesStartingFrom(start);
            entries.tailMap(start).clear();
            last = start - 1;
        }
    }

    private void startAnew(RocksRaftLog log) {
        if (random.nextInt(10) != 0) {
            return;
        }
        long index = last + random.nextInt(20) + 1;
        LogEntry entry = new LogEntry(term, null);
        log.reinitializeTo(index, entry);
        entries.clear();
        entries.put(index, entry);
        first = index;
        last = index;
        commit = index;
    }

    private LogContent expected() {
        List<String> texts = new ArrayList<>();
        entries.forEach((index, entry) -> texts.add(index + " " + LogContent.text(entry)));
        return new LogContent(term, vote, first, last, commit, texts);
    }
}
