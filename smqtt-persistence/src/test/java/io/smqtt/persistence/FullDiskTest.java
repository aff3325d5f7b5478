// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.StoredPage;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk without room makes no false promise, and the store comes back by itself when there is room again. */
@Tag("slow")
class FullDiskTest {

    private static final Duration BACK_WITHIN = Duration.ofSeconds(5);

    /** More than the memory that is written to files. */
    private static final int BEFORE_FULL = 300;

    @TempDir
    Path directory;

    @Test
    void aFullDiskLosesNothingThatWasSafeAndIsUsedAgainWhenThereIsRoom() throws Exception {
        Path disk = Files.createDirectories(directory.resolve("disk"));
        assumeThat(run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk.toString()))
                .as("mounting needs rights that this test may not have")
                .isZero();
        try {
            fillAndFree(disk);
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    private static void fillAndFree(Path disk) throws IOException {
        StoreSettings settings = StoreSettings.defaults().withMemory(1 << 20, 2 << 20);
        Path ballast = disk.resolve("ballast");
        byte[] payload = new byte[20_000];
        new Random(1).nextBytes(payload);
        long number = 0;
        long safe = 0;
        AtomicLong toldAsLost = new AtomicLong();
        try (RocksBrokerStore store = RocksBrokerStore.open(disk.resolve("store"), settings)) {
            store.observe(new BrokerObserver() {
                @Override
                public void storeCommitted(int operations, long bytes, long nanos, boolean kept) {
                    toldAsLost.addAndGet(kept ? 0 : operations);
                }
            });
            store.recover(new RecoveredStore());
            StoreLoop loop = new StoreLoop(store);
            while (store.isHealthy()) {
                if (number >= BEFORE_FULL) {
                    fill(ballast);
                }
                long next = ++number;
                long position = loop.flush(writer -> {
                    CommitJournal.write(writer, next, payload);
                    writer.requireSync();
                });
                loop.awaitTold(position);
                if (loop.safe() == position) {
                    safe = next;
                }
            }
            assertThat(loop.failures()).isNotEmpty();
            assertThat(safe).isEqualTo(number - 1);

            long refused = loop.flush(writer -> writer.putReceived(1, 1));
            loop.awaitTold(refused);
            assertThat(loop.safe()).isLessThan(refused);
            assertThat(toldAsLost).hasPositiveValue();

            Files.delete(ballast);
            await().atMost(BACK_WITHIN).until(store::isHealthy);
            for (; safe < number + 100; safe++) {
                long next = safe + 1;
                loop.commit(writer -> CommitJournal.write(writer, next, payload));
            }
            loop.close();
        }
        try (RocksBrokerStore store = RocksBrokerStore.open(disk.resolve("store"), settings)) {
            assertThat(CommitJournal.requireWhole(store)).isEqualTo(safe);
        }
    }

    /** Takes all the room that is left; table files that are merged leave some from time to time. */
    private static void fill(Path ballast) throws IOException {
        try (OutputStream file = Files.newOutputStream(ballast, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            byte[] some = new byte[64 << 10];
            while (true) {
                file.write(some);
            }
        } catch (IOException full) {
            assertThat(full).hasMessageContaining("No space left");
        }
    }

    private static int run(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    @Test
    void pastItsLimitTheStoreTakesRemovalsAndComesBackThroughThem() {
        StoreSettings settings =
                StoreSettings.defaults().withMemory(1 << 20, 1 << 20).withMaxBytes(8 << 20);
        byte[] payload = new byte[20_000];
        new Random(1).nextBytes(payload);
        try (RocksBrokerStore store = RocksBrokerStore.open(directory.resolve("store"), settings)) {
            store.recover(new RecoveredStore());
            StoreLoop loop = new StoreLoop(store);
            long number = 0;
            while (store.isHealthy()) {
                long next = ++number;
                loop.awaitTold(loop.flush(writer -> CommitJournal.write(writer, next, payload)));
            }
            long next = number + 1;
            loop.awaitTold(loop.flush(writer -> CommitJournal.write(writer, next, payload)));
            assertThat(loop.failures()).last().asString().contains("the store is full");

            long stays = number - 10;
            long waiting = stays % CommitJournal.SESSIONS + 1;
            loop.awaitTold(loop.flush(
                    writer -> { // what replaces it was not taken
                        writer.removeHandedOver(waiting, stays);
                        CommitJournal.write(writer, next, payload);
                    }));
            CompletableFuture<StoredPage> page = new CompletableFuture<>();
            store.read(waiting, stays, 1, 1, loop.executor(), page::complete);
            assertThat(page).succeedsWithin(Duration.ofSeconds(20));
            assertThat(page.join().messages().get(0).sequence()).isEqualTo(stays);

            loop.commit(writer -> {
                for (long session = 1; session <= CommitJournal.SESSIONS; session++) {
                    writer.removeSession(session, "client-" + session);
                }
            });
            await().atMost(Duration.ofSeconds(20)).until(store::isHealthy);
            loop.commit(writer -> CommitJournal.write(writer, 1, payload));
            loop.close();
        }
    }
}
