// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static io.smqtt.replication.LogContent.entries;
import static io.smqtt.replication.LogContent.entry;
import static io.smqtt.replication.LogContent.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jgroups.util.ExtendedUUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of a log of the engine, method by method. */
class RocksRaftLogTest {

    @TempDir
    private Path folder;

    private Path directory;
    private RocksRaftLog log;

    @BeforeEach
    void open() {
        directory = folder.resolve("log");
        log = LogContent.open(directory);
    }

    @AfterEach
    void close() throws IOException {
        log.close();
    }

    private void reopen() throws IOException {
        log.close();
        log = LogContent.open(directory);
    }

    @Test
    void isEmptyAtFirst() throws IOException {
        for (int i = 0; i < 2; i++) {
            assertThat(log.currentTerm()).isZero();
            assertThat(log.votedFor()).isNull();
            assertThat(log.firstAppended()).isZero();
            assertThat(log.lastAppended()).isZero();
            assertThat(log.commitIndex()).isZero();
            assertThat(log.size()).isZero();
            assertThat(log.getSnapshot()).isNull();
            assertThat(log.get(0)).isNull();
            assertThat(log.get(1)).isNull();
            assertThat(LogContent.of(log).entries()).isEmpty();
            reopen();
        }
    }

    @Test
    void keepsTermAndVote() throws IOException {
        Address a = ExtendedUUID.randomUUID("a").put("raft-id", new byte[] {'a'});
        log.currentTerm(5).votedFor(a);
        reopen();
        assertThat(log.currentTerm()).isEqualTo(5);
        assertThat(log.votedFor()).isEqualTo(a);

        log.votedFor(null);
        reopen();
        assertThat(log.votedFor()).as("a vote does not end before its term").isEqualTo(a);
        log.currentTerm(6);
        assertThat(log.votedFor()).isNull();
        reopen();
        assertThat(log.votedFor()).isNull();
    }

    @Test
    void keepsItsIdentityAndWhetherItVotes() throws IOException {
        long identity = log.identity();
        assertThat(log.isVoter()).isTrue();
        reopen();
        assertThat(log.identity()).isEqualTo(identity);
        log.delete();
        log = new RocksRaftLog(false, failure -> {});
        log.init(directory.toString(), null);
        assertThat(log.identity()).isNotEqualTo(identity);
        assertThat(log.isVoter()).isFalse();

        log.becomeVoterOf(7);
        log.becomeVoterOf(8);
        reopen();
        assertThat(log.isVoter()).isTrue();
        assertThat(log.group()).isEqualTo(7);
    }

    @Test
    void theTermNeverDecreases() {
        log.currentTerm(5);
        log.currentTerm(3);
        assertThat(log.currentTerm()).isEqualTo(5);

        log.append(1, entries(2, "old"));
        assertThat(log.currentTerm()).isEqualTo(5);

        log.append(2, entries(8, "new"));
        assertThat(log.currentTerm()).isEqualTo(8);

        log.deleteAllEntriesStartingFrom(1);
        assertThat(log.currentTerm()).isEqualTo(8);
    }

    @Test
    void appendsEntries() throws IOException {
        assertThat(log.append(1, entries(1, "a", "b"))).isEqualTo(2);
        LogEntries kinds = new LogEntries()
                .add(new LogEntry(2, "<c>".getBytes(), 1, 1), new LogEntry(2, new byte[0]), new LogEntry(2, null))
                .add(new LogEntry(3, new byte[] {'i'}, 0, 1, true));
        assertThat(log.append(3, kinds)).isEqualTo(6);

        for (int i = 0; i < 2; i++) {
            assertThat(LogContent.of(log))
                    .isEqualTo(new LogContent(
                            3,
                            null,
                            0,
                            6,
                            0,
                            List.of("1 1 a", "2 1 b", "3 2 c", "4 2 ", "5 2 none", "6 3 internal i")));
            assertThat(log.size()).isEqualTo(6);
            assertThat(log.get(0)).isNull();
            assertThat(log.get(7)).isNull();
            reopen();
        }
    }

    @Test
    void refusesEntriesThatDoNotFollow() {
        log.append(1, entries(3, "a"));

        assertThatThrownBy(() -> log.append(1, entries(3, "b"))).hasMessage("entry 1 cannot follow entry 1");
        assertThatThrownBy(() -> log.append(3, entries(3, "b"))).hasMessage("entry 3 cannot follow entry 1");
        assertThat(log.append(2, entries(3, "b"))).isEqualTo(2);
    }

    @Test
    void termsOfEntriesDoNotDecrease() {
        log.append(1, entries(3, "a"));

        assertThatThrownBy(() -> log.append(2, entries(2, "b")))
                .hasMessage("entry 2 has term 2, the entry before it has term 3");
    }

    @Test
    void keepsTheCommitIndex() throws IOException {
        log.append(1, entries(1, "a", "b", "c"));
        log.commitIndex(2).commitIndex(2);
        reopen();
        assertThat(log.commitIndex()).isEqualTo(2);

        assertThatThrownBy(() -> log.commitIndex(1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> log.commitIndex(4)).isInstanceOf(IllegalArgumentException.class);
        assertThat(log.commitIndex(3).commitIndex()).isEqualTo(3);
    }

    @Test
    void truncatesUpToTheCommitIndex() throws IOException {
        log.append(1, entries(1, "a", "b", "c", "d"));
        log.commitIndex(3);
        log.truncate(1);
        assertThat(log.firstAppended()).isOne();
        assertThat(log.size()).isEqualTo(4);

        log.truncate(2);
        for (int i = 0; i < 2; i++) {
            assertThat(log.firstAppended()).isEqualTo(2);
            assertThat(log.get(1)).isNull();
            assertThat(text(log.get(2))).isEqualTo("1 b");
            assertThat(log.size()).isEqualTo(3);
            reopen();
        }

        log.truncate(5);
        log.truncate(1);
        assertThat(LogContent.of(log)).isEqualTo(new LogContent(1, null, 3, 4, 3, List.of("3 1 c", "4 1 d")));
    }

    @Test
    void removesASuffix() throws IOException {
        log.append(1, entries(1, "a", "b", "c", "d"));
        log.commitIndex(1);

        log.deleteAllEntriesStartingFrom(5);
        assertThat(log.lastAppended()).isEqualTo(4);
        assertThatThrownBy(() -> log.deleteAllEntriesStartingFrom(1)).isInstanceOf(IllegalArgumentException.class);

        log.deleteAllEntriesStartingFrom(3);
        assertThat(log.get(3)).isNull();
        assertThat(log.append(3, entries(2, "x"))).isEqualTo(3);
        for (int i = 0; i < 2; i++) {
            assertThat(LogContent.of(log))
                    .isEqualTo(new LogContent(2, null, 0, 3, 1, List.of("1 1 a", "2 1 b", "3 2 x")));
            reopen();
        }
    }

    @Test
    void startsAnewBehindASnapshot() throws IOException {
        log.append(1, entries(1, "a", "b", "c"));
        log.currentTerm(9);

        log.reinitializeTo(70, new LogEntry(4, null));
        for (int i = 0; i < 2; i++) {
            assertThat(LogContent.of(log)).isEqualTo(new LogContent(9, null, 70, 70, 70, List.of("70 4 none")));
            assertThat(log.size()).isOne();
            reopen();
        }

        assertThat(log.append(71, entries(9, "d"))).isEqualTo(71);
    }

    @Test
    void visitsARange() {
        log.append(1, entries(1, "a", "b", "c", "d"));
        log.commitIndex(2);
        log.truncate(2);
        List<String> visited = new ArrayList<>();

        log.forEach((entry, index) -> visited.add(index + " " + text(entry)), 0, 3);
        log.forEach((entry, index) -> visited.add(index + " " + text(entry)), 4, 9);
        log.forEach((entry, index) -> visited.add(index + " " + text(entry)), 9, 12);

        assertThat(visited).containsExactly("2 1 b", "3 1 c", "4 1 d");
    }

    @Test
    void keepsASnapshot() throws IOException {
        log.setSnapshot(ByteBuffer.wrap("first".getBytes()));
        log.setSnapshot(ByteBuffer.wrap("<second>".getBytes(), 1, 6));
        reopen();
        assertThat(log.getSnapshot()).isEqualTo(ByteBuffer.wrap("second".getBytes()));

        Path file = directory.resolve("snapshot");
        byte[] bytes = Files.readAllBytes(file);
        bytes[9] ^= 4;
        Files.write(file, bytes);
        assertThatThrownBy(() -> log.getSnapshot()).hasMessageContaining("its file snapshot differs");
    }

    @Test
    void tellsItsSize() {
        log.append(1, entries(1, "x".repeat(100_000), "y".repeat(100_000)));

        assertThat(log.sizeInBytes()).isBetween(50_000L, 400_000L);
    }

    @Test
    void readsEntriesThatAreNoLongerInMemory() {
        for (int i = 1; i <= 40; i++) {
            log.append(i, entries(1, i + "x".repeat(1 << 20)));
        }

        assertThat(text(log.get(1))).startsWith("1 1x");
        assertThat(text(log.get(40))).startsWith("1 40x");
    }

    @Test
    void isSyncedUnlessTheEngineWantsItOtherwise() {
        assertThat(log.useFsync()).isTrue();
        assertThat(log.useFsync(false).useFsync()).isFalse();
        assertThat(log.append(1, entries(1, "a"))).isOne();
    }

    @Test
    void isOpenOnce() {
        assertThatThrownBy(() -> LogContent.open(directory))
                .isInstanceOf(StoreUnusableException.class)
                .hasMessageContaining(directory.toString());
    }

    @Test
    void isClosedOnce() throws IOException {
        log.close();
        log.close();

        assertThatThrownBy(() -> log.append(1, entries(1, "a"))).hasMessage("the log is closed");
        assertThat(log.get(1)).isNull();
    }

    @Test
    void canBeDeleted() throws IOException {
        log.append(1, entries(1, "a"));
        log.delete();
        assertThat(directory).doesNotExist();

        log = LogContent.open(directory);
        assertThat(log.lastAppended()).isZero();
    }

    @Test
    void takesNothingAfterAFailure() throws IOException {
        List<Throwable> failures = new ArrayList<>();
        RocksRaftLog failing = new RocksRaftLog(true, failures::add);
        failing.init(folder.resolve("failing").toString(), null);
        failing.append(1, entries(3, "a"));

        assertThatThrownBy(() -> failing.append(2, entries(2, "b"))).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> failing.append(2, entries(3, "c"))).hasMessageContaining("has failed before");
        assertThatThrownBy(() -> failing.currentTerm(9)).hasMessageContaining("has failed before");

        assertThat(failures).hasSize(1);
        assertThat(failing.lastAppended()).isOne();
        assertThat(text(failing.get(1))).isEqualTo("3 a");
        failing.delete();
    }

    @Test
    void anEntryIsNotTakenForAnother() {
        byte[] record = EntryRecord.encode(5, entry(1, "a"));

        assertThat(text(EntryRecord.decode(5, record))).isEqualTo("1 a");
        assertThatThrownBy(() -> EntryRecord.decode(6, record)).hasMessage("its record is that of entry 5");
    }

    @Test
    void anyFlippedBitOfARecordIsFound() {
        byte[] record = EntryRecord.encode(5, entry(1, "abc"));

        for (int bit = 0; bit < record.length * Byte.SIZE; bit++) {
            byte[] flipped = record.clone();
            flipped[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThatThrownBy(() -> EntryRecord.decode(5, flipped))
                    .as("bit %d", bit)
                    .isNotNull();
        }
    }
}
