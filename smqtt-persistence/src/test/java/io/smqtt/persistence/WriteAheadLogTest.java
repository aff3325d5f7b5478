// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.spi.StoreDamagedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** Logs that are missing stop the start, but only if they are needed. */
class WriteAheadLogTest {

    private static final StoreSettings SETTINGS = StoreSettings.defaults();

    private static final long ROWS = 0x5A5A_5A5A_0000_0000L;

    @TempDir
    Path directory;

    /** The database removes logs that it does not need any more, and the latest of them first. */
    @Test
    void aLogThatIsNotNeededAnyMoreMayBeLeftBehindAGap() throws Exception {
        Path database = directory.resolve("db");
        Path copy = directory.resolve("copy");
        NativeLibrary.load(directory.resolve("native"));
        Files.createDirectories(database);
        try (Handles open = new Handles(database, SETTINGS, true)) {
            write(open, 1);
            Path old = Files.copy(logs(database).get(0), directory.resolve("old"));
            String name = logs(database).get(0).getFileName().toString();
            flush(open, Family.values());
            write(open, 2);
            flush(open, Family.values());
            write(open, 3);
            LiveCopy.of(database, copy);
            Files.copy(old, copy.resolve(name));
        }

        WriteAheadLog.requireWhole(copy, false);

        try (Handles open = new Handles(copy, SETTINGS, false)) {
            assertThat(open.db.get(open.of(Family.META), Keys.number(3))).isNotNull();
        }
    }

    @Test
    void aLogThatIsNeededMustBeThere() throws Exception {
        Path database = directory.resolve("db");
        Path copy = directory.resolve("copy");
        NativeLibrary.load(directory.resolve("native"));
        Files.createDirectories(database);
        try (Handles open = new Handles(database, SETTINGS, true)) {
            for (int number = 1; number <= 3; number++) {
                write(open, number);
                flush(open, Family.META); // what else was written is still in the log only
            }
            write(open, 4);
            LiveCopy.of(database, copy);
        }
        WriteAheadLog.requireWhole(copy, false);
        List<Path> logs = logs(copy);
        assertThat(logs).hasSizeGreaterThan(2);
        Files.delete(logs.get(1));

        assertThatThrownBy(() -> WriteAheadLog.requireWhole(copy, false))
                .isInstanceOf(StoreDamagedException.class)
                .hasMessageContaining(directory.toString());
    }

    /** The tables have what came after it, so that nothing but the cut log says that rows are missing. */
    @Test
    void aFirstLogThatIsCutInItsFirstRecordIsNamed() throws Exception {
        Path database = directory.resolve("db");
        Path copy = directory.resolve("copy");
        NativeLibrary.load(directory.resolve("native"));
        Files.createDirectories(database);
        try (Handles open = new Handles(database, SETTINGS, true)) {
            write(open, 1);
            flush(open, Family.META); // what else was written is still in the log only
            write(open, 2);
            LiveCopy.of(database, copy);
        }
        Path first = logs(copy).get(0);
        byte[] bytes = Files.readAllBytes(first);
        Files.write(first, Arrays.copyOf(bytes, 20));

        assertThatThrownBy(() -> WriteAheadLog.requireWhole(copy, false))
                .isInstanceOf(StoreDamagedException.class)
                .hasMessageContaining(first.toString());
    }

    /** A crash in the first write of a log leaves such a file, and no later start may take it for damage. */
    @Test
    void aLogThatHoldsNoWholeRecordIsNotMissedAfterTheNextStart() throws Exception {
        Path database = directory.resolve("db");
        Path torn = directory.resolve("torn");
        Path copy = directory.resolve("copy");
        NativeLibrary.load(directory.resolve("native"));
        Files.createDirectories(database);
        try (Handles open = new Handles(database, SETTINGS, true)) {
            write(open, 1);
            flush(open, Family.values());
            write(open, 2);
            LiveCopy.of(database, torn);
        }
        Path last = logs(torn).get(logs(torn).size() - 1);
        byte[] bytes = Files.readAllBytes(last);
        Files.write(last, Arrays.copyOf(bytes, 20));
        WriteAheadLog.requireWhole(torn, false);
        try (Handles open = new Handles(torn, SETTINGS, false)) {
            write(open, 3);
            LiveCopy.of(torn, copy);
        }
        Files.write(copy.resolve(last.getFileName()), Arrays.copyOf(bytes, 20));

        WriteAheadLog.requireWhole(copy, false);
    }

    /** Rows 1 to 30, of which those up to 10 are on stable storage before 11 is written. */
    private Path log() throws Exception {
        Path path = directory.resolve("db");
        Path copy = directory.resolve("copy");
        NativeLibrary.load(directory.resolve("native"));
        Files.createDirectories(path);
        try (Database database = new Database(path, SETTINGS)) {
            database.open(true);
            for (int number = 1; number <= 30; number++) {
                Change row = new Change(Family.META, Keys.number(ROWS + number), new byte[100]);
                database.write(Change.all(List.of(row)), number == 10);
            }
            LiveCopy.of(path, copy);
        }
        return copy;
    }

    /** Makes a hole where a row was. */
    private static void lose(Path copy, int number) throws IOException {
        Path log = logs(copy).get(logs(copy).size() - 1);
        byte[] bytes = Files.readAllBytes(log);
        byte[] key = Keys.number(ROWS + number);
        int at = 0;
        while (!Arrays.equals(bytes, at, at + key.length, key, 0, key.length)) {
            at++;
        }
        Arrays.fill(bytes, at, at + key.length, (byte) 0);
        Files.write(log, bytes);
    }

    @Test
    void aHoleThatAPowerLossLeftInWhatWasNeverSyncedIsCutOff() throws Exception {
        Path copy = log();
        lose(copy, 20);

        assertThatThrownBy(() -> WriteAheadLog.requireWhole(copy, false))
                .isInstanceOf(StoreDamagedException.class)
                .hasMessageContaining(".log");
        WriteAheadLog.requireWhole(copy, true);

        try (Database database = new Database(copy, SETTINGS)) {
            database.open(false);
            assertThat(database.get(Family.META, Keys.number(ROWS + 19))).isNotNull();
            assertThat(database.get(Family.META, Keys.number(ROWS + 20))).isNull();
            assertThat(database.get(Family.META, Keys.number(ROWS + 21))).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 9, 10})
    void aHoleInWhatWasSyncedIsDamageAlsoAfterAPowerLoss(int number) throws Exception {
        Path copy = log();
        lose(copy, number);

        assertThatThrownBy(() -> WriteAheadLog.requireWhole(copy, true)).isInstanceOf(StoreDamagedException.class);
    }

    @Test
    void aStoreKnowsWhetherTheMachineWasStartedAnew() {
        Path place = directory.resolve("store");
        try (StoreFolder folder = StoreFolder.open(place)) {
            assertThat(folder.wasOfAnotherBoot("one")).isFalse(); // nobody knows
            folder.ofBoot("one");
            assertThat(folder.wasOfAnotherBoot("one")).isFalse();
            assertThat(folder.wasOfAnotherBoot("two")).isTrue();
            assertThat(folder.wasOfAnotherBoot("")).isFalse();
        }
    }

    private static void write(Handles open, long number) throws RocksDBException {
        try (WriteBatch batch = new WriteBatch()) {
            batch.put(open.of(Family.META), Keys.number(number), new byte[100]);
            batch.put(open.of(Family.TAIL), Keys.number(number), new byte[100]);
            open.db.write(open.synced, batch);
        }
    }

    private static void flush(Handles open, Family... families) throws RocksDBException {
        try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
            for (Family family : families) {
                open.db.flush(options, open.of(family));
            }
        }
    }

    private static List<Path> logs(Path database) throws IOException {
        try (Stream<Path> files = Files.list(database)) {
            return files.filter(file -> file.toString().endsWith(".log"))
                    .sorted()
                    .toList();
        }
    }
}
