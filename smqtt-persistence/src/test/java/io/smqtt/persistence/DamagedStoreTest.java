// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.StoreDamagedException;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store whose files were cut or changed says so, or has lost nothing but an end that nobody can tell from a crash. */
@Tag("slow")
class DamagedStoreTest {

    private static final int COPIES = Integer.getInteger("smqtt.damage.copies", 200);
    private static final int FLUSHES = 1_500;
    private static final int AT_ONCE = 50;
    private static final int CUTS = 200;
    private static final StoreSettings SETTINGS = StoreSettings.defaults().withMemory(1 << 20, 1 << 20);

    @TempDir
    Path directory;

    @Test
    void damageIsFoundOrDidNoHarm() throws IOException {
        Path original = directory.resolve("original");
        Path running = directory.resolve("running");
        fill(running, original);
        Outcomes outcomes = new Outcomes();
        for (int seed = 1; seed <= COPIES; seed++) {
            Path copy = directory.resolve("copy-" + seed);
            LiveCopy.of(original, copy);
            // the first number of java.util.Random is nearly the same for all small seeds, and so would be the file
            Damaging damaging = damage(copy, new SplittableRandom(seed));
            outcomes.add(damaging, seed, tryOut(copy, damaging, seed));
            LiveCopy.delete(copy);
        }
        System.out.println(outcomes);
        assertThat(outcomes.refused).isPositive();
        assertThat(outcomes.whole).isPositive();
    }

    /** An older list of table files looks whole, and leaves out what was written to tables since. */
    @Test
    void aListOfTablesIsFoundToBeCutAnywhere() throws IOException {
        Path original = directory.resolve("original");
        fill(directory.resolve("running"), original);
        Path list = Objects.requireNonNull(Manifest.current(original.resolve("db")));
        long size = Files.size(list);
        int refused = 0;
        for (int part = 1; part <= CUTS; part++) {
            Path copy = directory.resolve("cut-" + part);
            LiveCopy.of(original, copy);
            Path file = copy.resolve("db").resolve(list.getFileName());
            long place = size * part / (CUTS + 1);
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                bytes.setLength(place);
            }
            long last = tryOut(copy, new Damaging("db/" + list.getFileName(), place, true), part);
            assertThat(last).as("cut at %s of %s", place, size).isIn(-1L, FLUSHES + 1L);
            refused += last < 0 ? 1 : 0;
            LiveCopy.delete(copy);
        }
        assertThat(refused).isPositive();
    }

    /** Copies while it runs, so that the log is not empty and the copy looks like a crash. */
    private static void fill(Path running, Path original) {
        try (RocksBrokerStore store = RocksBrokerStore.open(running, SETTINGS)) {
            store.recover(new RecoveredStore());
            try (StoreLoop loop = new StoreLoop(store)) {
                byte[] payload = new byte[1_500];
                new Random(1).nextBytes(payload);
                for (int i = 1; i <= FLUSHES; i++) {
                    int number = i;
                    long position = loop.flush(writer -> CommitJournal.write(writer, number, payload));
                    if (i % AT_ONCE == 0) {
                        loop.awaitTold(position); // else the log would be one record
                    }
                }
                loop.commit(writer -> CommitJournal.write(writer, FLUSHES + 1, payload));
                LiveCopy.of(running, original);
            }
        }
    }

    private static long tryOut(Path copy, Damaging damaging, int seed) {
        try (RocksBrokerStore store = RocksBrokerStore.open(copy, SETTINGS)) {
            return CommitJournal.requireWhole(store);
        } catch (StoreDamagedException e) {
            assertThat(e.getMessage())
                    .as("seed %s, %s", seed, damaging)
                    .contains(copy.toString())
                    .contains(damaging.name());
            return -1;
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("seed " + seed + ", " + damaging, e);
        }
    }

    private static Damaging damage(Path copy, RandomGenerator random) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(copy)) {
            files = all.filter(Files::isRegularFile)
                    .filter(file -> file.toFile().length() > 0)
                    .filter(file -> !file.getFileName().toString().matches("LOG.*|LOCK|lock|IDENTITY"))
                    .sorted()
                    .toList();
        }
        Path file = files.get(random.nextInt(files.size()));
        long place = (long) (random.nextDouble() * Files.size(file));
        boolean cut = random.nextBoolean();
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            if (cut) {
                bytes.setLength(place);
            } else {
                bytes.seek(place);
                int before = bytes.read();
                bytes.seek(place);
                bytes.write(before ^ 1 << random.nextInt(8));
            }
        }
        return new Damaging(copy.relativize(file).toString(), place, cut);
    }

    private record Damaging(String file, long place, boolean cut) {

        /** What a message has to say; the library begins a new list of tables before it misses something in the old one. */
        String name() {
            String name = Path.of(file).getFileName().toString();
            return name.startsWith("MANIFEST-") ? "MANIFEST-" : name;
        }
    }

    private static final class Outcomes {

        private int refused;
        private int whole;
        private int cutEnd;

        /**
         * Only the end of a log may be missing: if it was cut, or if a bit of its last record was changed, which looks like one that a crash
         * interrupted.
         */
        void add(Damaging damaging, int seed, long last) {
            if (last < 0) {
                refused++;
            } else if (last == FLUSHES + 1) {
                whole++;
            } else {
                assertThat(damaging.file.endsWith(".log") && (damaging.cut || last == FLUSHES))
                        .as("seed %s, %s: only %s flushes are left, without a word", seed, damaging, last)
                        .isTrue();
                cutEnd++;
            }
        }

        @Override
        public String toString() {
            return refused + " refused, " + whole + " whole, " + cutEnd + " without the cut end of the log";
        }
    }
}
