// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.persistence.CommitPath;
import io.smqtt.persistence.ReplicaPosition;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.StoreDamagedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rows of two members that apply the same log, in which two nodes reign in turn. */
class StoreStateTest {

    private static final Reign A = new Reign("a", 1);
    private static final Reign B = new Reign("b", 2);

    @TempDir
    private Path folder;

    private final List<byte[]> log = new ArrayList<>();
    private final Recorded reigns = new Recorded();
    private final StoreState one = new StoreState(StoreSettings.defaults(), reigns);
    private final StoreState other = new StoreState(StoreSettings.defaults(), new Recorded());

    @BeforeEach
    void open() {
        one.open(folder.resolve("one"));
        other.open(folder.resolve("other"));
    }

    @AfterEach
    void close() {
        one.close();
        other.close();
    }

    /** Appends an entry that is committed; returns its index. */
    private long append(byte[] entry) {
        log.add(entry);
        catchUp(one);
        catchUp(other);
        return log.size();
    }

    private long reign(Reign reign) {
        return append(StoreEntry.begin(reign));
    }

    private void note(long reign, long number, String name, String value) {
        append(StoreEntry.batch(reign, number, Notes.batch(name, value)));
    }

    /** As a member does after a restart, too: it has the log, and applies what its rows do not have. */
    private void catchUp(StoreState member) {
        for (long index = member.applied() + 1; index <= log.size(); index++) {
            byte[] entry = log.get((int) index - 1);
            member.apply(index, entry, 0, entry.length);
        }
    }

    private void assertNotes(Map<String, String> expected) {
        assertThat(Notes.in(one.rows())).isEqualTo(expected);
        assertThat(Notes.in(other.rows())).isEqualTo(expected);
    }

    @Test
    void aLateBatchOfAnEarlierReignIsAppliedByNoMember() {
        long ofA = reign(A);
        note(ofA, 1, "x", "first of a");
        long ofB = reign(B);
        note(ofB, 1, "y", "first of b");
        note(ofA, 2, "y", "late");
        note(ofB, 2, "z", "second of b");

        assertNotes(Map.of("x", "first of a", "y", "first of b", "z", "second of b"));
        assertThat(one.position()).isEqualTo(new ReplicaPosition(6, ofB, 2)).isEqualTo(other.position());
    }

    @Test
    void eachNumberIsAppliedOnce() {
        long ofA = reign(A);
        note(ofA, 1, "x", "first");
        note(ofA, 1, "x", "again");
        assertNotes(Map.of("x", "first"));
        note(ofA, 2, "x", "second");
        assertNotes(Map.of("x", "second"));
    }

    @Test
    void aBatchThatFailedMayLeaveAGapAndIsNotAppliedBehindIt() {
        long ofA = reign(A);
        note(ofA, 1, "x", "first");
        note(ofA, 3, "x", "third");
        note(ofA, 2, "x", "second");

        assertNotes(Map.of("x", "third"));
    }

    @Test
    void aNodeThatReignsAgainBeginsWithNewNumbers() {
        long before = reign(A);
        note(before, 1, "x", "first");
        note(before, 2, "x", "second");
        reign(B);
        long now = reign(A);
        note(before, 3, "x", "late");
        note(now, 1, "y", "first again");

        assertNotes(Map.of("x", "second", "y", "first again"));
    }

    @Test
    void aMemberThatRestartsDecidesAsBefore() throws Exception {
        long ofA = reign(A);
        note(ofA, 1, "x", "first of a");
        Path stored = folder.resolve("stored"); // what a crash leaves
        one.checkpoint(stored);
        long ofB = reign(B);
        note(ofA, 2, "x", "late");
        note(ofB, 1, "y", "first of b");

        one.close();
        one.open(stored);
        assertThat(one.position()).isEqualTo(new ReplicaPosition(2, ofA, 1));
        catchUp(one);
        note(ofA, 3, "x", "later");
        note(ofB, 1, "y", "again");

        assertNotes(Map.of("x", "first of a", "y", "first of b"));
        assertThat(one.position()).isEqualTo(other.position());
    }

    @Test
    void aMemberThatStoredAllDecidesAsBefore() throws IOException {
        reign(A);
        long ofB = reign(B);
        note(ofB, 1, "y", "first of b");
        one.persist();
        Path crashed = folder.resolve("crashed");
        copyFiles(folder.resolve("one"), crashed); // while it is open: what was not flushed is missing
        note(ofB, 2, "y", "second of b");
        one.close();
        one.open(crashed);

        assertThat(one.position()).isEqualTo(new ReplicaPosition(3, ofB, 1));
        note(ofB, 1, "y", "again");
        assertNotes(Map.of("y", "second of b"));
        assertThat(one.position()).isEqualTo(other.position());
    }

    /** The entry of the reign may be behind what a member applies again after its restart. */
    @Test
    void theNodeThatReignsIsKnownAfterARestart() throws Exception {
        assertThat(one.server()).isNull();
        reign(A);
        assertThat(one.server()).isEqualTo("a");
        long ofB = reign(B);
        note(ofB, 1, "y", "first of b");
        one.close();
        assertThat(one.server()).isNull();

        one.open(folder.resolve("one"));

        assertThat(one.applied()).isEqualTo(log.size());
        assertThat(one.server()).isEqualTo("b");
    }

    /** Rows that were not flushed since before the reign: a crash leaves a position in front of it, and the log has the rest. */
    @Test
    void aReignThatTheRowsHaveLostIsAppliedAgain() throws Exception {
        long ofA = reign(A);
        note(ofA, 1, "x", "first of a");
        one.persist();
        long ofB = reign(B);
        note(ofA, 2, "x", "late");
        note(ofB, 1, "y", "first of b");
        Path crashed = folder.resolve("crashed");
        copyFiles(folder.resolve("one"), crashed);
        one.close();
        one.open(crashed);

        assertThat(one.position()).isEqualTo(new ReplicaPosition(2, ofA, 1));
        catchUp(one);
        assertNotes(Map.of("x", "first of a", "y", "first of b"));
        assertThat(one.position()).isEqualTo(other.position());
    }

    private static void copyFiles(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file));
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else if (!file.endsWith("lock") && !file.endsWith("LOCK")) {
                    Files.copy(file, target);
                }
            }
        }
    }

    @Test
    void aCheckpointHasTheReign() throws Exception {
        long ofA = reign(A);
        note(ofA, 1, "x", "first of a");
        long ofB = reign(B);
        note(ofB, 1, "y", "first of b");

        Path copy = folder.resolve("copy");
        assertThat(one.checkpoint(copy)).isEqualTo(4);
        assertThat(other.verify(copy)).isEqualTo(4);
        other.close();
        other.open(copy);
        assertThat(other.position()).isEqualTo(new ReplicaPosition(4, ofB, 1));
        note(ofA, 2, "x", "late");
        note(ofB, 1, "y", "again");
        note(ofB, 2, "z", "second of b");

        assertNotes(Map.of("x", "first of a", "y", "first of b", "z", "second of b"));
    }

    /** As they are in logs that were written before there were reigns. */
    @Test
    void batchesWithoutAReignCountBeforeTheFirstOne() {
        append(withoutReign("x", "old"));
        append(withoutReign("y", "old"));
        long ofA = reign(A);
        note(ofA, 1, "y", "first of a");

        assertNotes(Map.of("x", "old", "y", "first of a"));
    }

    /** A program without reigns leads, and has appended an entry behind one: members of both would differ for good. */
    @Test
    void aBatchWithoutAReignBehindOneEndsTheMember() {
        reign(A);
        byte[] entry = withoutReign("x", "too late");

        assertThatThrownBy(() -> one.apply(2, entry, 0, entry.length))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining("version of smqtt without reigns");
        assertThat(one.position().entry()).isEqualTo(1);
    }

    /** A program that knows no reigns must not open rows that have one: it would remove it. */
    @Test
    void rowsHaveAFormatThatOlderProgramsRefuse() throws Exception {
        Path rows = folder.resolve("one");
        assertThat(rows.resolve("FORMAT")).hasContent("smqtt store format 4");
        Path copy = folder.resolve("copy");
        one.checkpoint(copy);
        assertThat(copy.resolve("FORMAT")).hasContent("smqtt store format 4");

        one.close();
        Files.writeString(rows.resolve("FORMAT"), "smqtt store format 1\n"); // as older ones wrote it
        one.open(rows);
        assertThat(rows.resolve("FORMAT")).hasContent("smqtt store format 4");
        one.close();
        assertThatThrownBy(() -> RocksBrokerStore.open(rows, StoreSettings.defaults()))
                .isInstanceOf(StoreDamagedException.class)
                .hasMessageContaining("the store is a replica");
    }

    @Test
    void thePositionStaysKnownWhileTheRowsAreReplaced() throws Exception {
        long ofA = reign(A);
        note(ofA, 1, "x", "first of a");
        Path copy = folder.resolve("copy");
        long ofB = reign(B);
        other.checkpoint(copy);

        one.close();
        assertThat(one.position().reign()).isEqualTo(ofB);
        one.open(copy);
        assertThat(reigns.found).isEmpty();

        long later = reign(A);
        one.close();
        one.open(folder.resolve("older"));
        assertThat(reigns.found).as("not %d", later).containsExactly(0L);
    }

    private static byte[] withoutReign(String name, String value) {
        byte[] rows = Notes.batch(name, value);
        byte[] entry = new byte[rows.length + 1];
        entry[0] = 1;
        System.arraycopy(rows, 0, entry, 1, rows.length);
        return entry;
    }

    @Test
    void reignsAreReported() {
        reign(A);
        note(1, 1, "x", "1");
        reign(B);

        assertThat(reigns.applied).containsExactly("1 " + A, "3 " + B);
    }

    @Test
    void anEntryThatIsNotOfAStoreEndsTheMember() {
        for (byte[] entry : List.of(new byte[0], new byte[] {9, 1}, new byte[] {2, 0, 0}, new byte[] {3, 0})) {
            assertThatThrownBy(() -> one.apply(1, entry, 0, entry.length))
                    .isInstanceOf(MalformedBytesException.class)
                    .hasMessageContaining("entry 1 cannot be applied");
        }
        assertThat(one.position()).isEqualTo(ReplicaPosition.NONE);
    }

    @Test
    void rowsWithAStoreOverThemAreReplacedWhenItIsClosed() {
        assertThat(one.release()).isCompleted();
        one.rows().lead(new Unused());
        assertThat(one.isReplaceable()).isFalse();
        assertThat(one.release()).isSameAs(reigns.replaced).isNotDone();

        one.endLead();
        assertThat(one.isReplaceable()).isTrue();
        assertThat(one.release()).isCompleted();
    }

    @Test
    void rowsAreInUseWhileTheirStoreIsBeingOpened() {
        List<Boolean> replaceable = new ArrayList<>();
        CommitPath failing = new CommitPath() {
            @Override
            public void commit(byte[] batch) throws IOException {
                replaceable.add(one.isReplaceable());
                throw new IOException("no majority");
            }

            @Override
            public boolean isOpen() {
                return false;
            }
        };

        assertThatThrownBy(() -> one.rows().lead(failing)).isInstanceOf(StoreUnusableException.class);
        assertThat(replaceable).containsExactly(false);
        assertThat(one.isReplaceable()).isTrue();
    }

    /** Takes the clock of a store that is opened, and does not store it. */
    private static final class Unused implements CommitPath {

        @Override
        public void commit(byte[] batch) {}

        @Override
        public boolean isOpen() {
            return true;
        }
    }

    private static final class Recorded implements StoreState.Reigns {

        private final List<String> applied = new ArrayList<>();
        private final List<Long> found = new ArrayList<>();
        private final CompletableFuture<Void> replaced = new CompletableFuture<>();

        @Override
        public void applied(long entry, Reign reign) {
            applied.add(entry + " " + reign);
        }

        @Override
        public void found(long entry) {
            found.add(entry);
        }

        @Override
        public CompletableFuture<Void> replaced() {
            return replaced;
        }
    }
}
