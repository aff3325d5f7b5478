// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.smqtt.test.store.RecoveredStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The store and the directory it is in. */
class StoreDirectoryTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private Path place() {
        return directory.resolve("store");
    }

    private RocksBrokerStore open() {
        return RocksBrokerStore.open(place(), StoreSettings.defaults());
    }

    @Test
    void aSecondStoreOfTheProcessLeavesTheLockToTheFirst() throws IOException {
        assumeThat(Path.of("/proc/locks")).exists();
        try (RocksBrokerStore first = open()) {
            assertThat(first.isHealthy()).isTrue();
            assertThat(locks()).isEqualTo(1);

            assertThatThrownBy(this::open)
                    .isInstanceOf(StoreInUseException.class)
                    .hasMessageContaining("process " + ProcessHandle.current().pid());
            assertThat(locks()).isEqualTo(1);
        }
        assertThat(locks()).isZero();
        open().close();
    }

    /** How many locks there are on the store, by whomever. */
    private long locks() throws IOException {
        String inode = ":" + Files.getAttribute(place().resolve("lock"), "unix:ino") + " ";
        try (Stream<String> lines = Files.lines(Path.of("/proc/locks"))) {
            return lines.filter(line -> line.contains("POSIX") && line.contains(inode))
                    .count();
        }
    }

    @Test
    void aFileInPlaceOfTheDirectoryIsNamed() throws IOException {
        Files.writeString(place(), "");

        assertThatThrownBy(this::open)
                .isInstanceOf(StoreUnusableException.class)
                .hasMessageContaining(place().toString())
                .hasMessageContaining("choose another directory");
    }

    @Test
    void aDiskWithoutPermissionsIsNoReasonToStop() {
        Path withoutPermissions = Path.of("/proc/self/fdinfo");
        assumeThat(withoutPermissions).exists();

        assertThat(StoreFolder.restrict(withoutPermissions)).isFalse();
        assertThat(StoreFolder.restrict(directory)).isTrue();
    }

    @Test
    void aBackupThatFailsLeavesNothing() throws IOException {
        try (RocksBrokerStore store = open()) {
            store.recover(new RecoveredStore());
            Path file = Files.writeString(directory.resolve("file"), "");

            assertThatThrownBy(() -> store.backup(file.resolve("backup/store")))
                    .isInstanceOf(UncheckedIOException.class);
            Path longest = directory.resolve("new/" + "x".repeat(250));
            assertThatThrownBy(() -> store.backup(longest.resolve("y".repeat(300))))
                    .isInstanceOf(UncheckedIOException.class);
            assertThat(directory.resolve("new")).doesNotExist();

            assertThatCode(() -> store.backup(directory.resolve("new/store"))).doesNotThrowAnyException();
        }
    }

    @Test
    void whoReadsForLongDoesNotKeepTheStoreFromClosing() throws Exception {
        open().close();
        Database database = new Database(place().resolve("db"), StoreSettings.defaults());
        database.open(false);
        CountDownLatch reading = new CountDownLatch(1);
        CountDownLatch enough = new CountDownLatch(1);
        CompletableFuture<Boolean> reader = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return database.read(view -> {
                            reading.countDown();
                            return awaited(enough);
                        });
                    } catch (org.rocksdb.RocksDBException e) {
                        throw new IllegalStateException(e);
                    }
                },
                THREADS);
        assertThat(awaited(reading)).isTrue();

        assertThat(database.close(Duration.ofMillis(1))).isFalse();
        database.compact(); // is not begun any more
        enough.countDown();
        assertThat(reader).succeedsWithin(PATIENCE).isEqualTo(true);
        assertThat(database.close(PATIENCE)).isTrue();
        assertThatThrownBy(database::verify).hasMessageContaining("closed");
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(PATIENCE.toSeconds(), java.util.concurrent.TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }
}
