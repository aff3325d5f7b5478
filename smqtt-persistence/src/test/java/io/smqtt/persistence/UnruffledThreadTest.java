// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredPage;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a loop or a listener does, the store's threads live on and the others are told. */
class UnruffledThreadTest {

    @TempDir
    Path directory;

    @Test
    void aLoopThatThrowsDoesNotEndTheCommittingThread() throws Exception {
        Executor throwing = task -> {
            throw new AssertionError("this loop takes nothing");
        };
        try (RocksBrokerStore store = RocksBrokerStore.open(directory, StoreSettings.defaults())) {
            store.recover(new RecoveredStore());
            StoreWriter writer = store.writer(throwing, new Listener(0));
            StoreLoop loop = new StoreLoop(store);

            writer.putReceived(1, 1);
            writer.flush();
            store.read(1, 0, 1, 1, throwing, page -> {});
            loop.commit(other -> other.putReceived(2, 2));

            CompletableFuture<StoredPage> page = new CompletableFuture<>();
            store.read(1, 0, 1, 1, loop.executor(), page::complete);
            assertThat(page.get(20, TimeUnit.SECONDS).failure()).isNull();
            loop.close();
        }
    }

    @Test
    void aListenerThatThrowsIsStillToldOfTheFailureThatFollows() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        Listener listener = new Listener(1);
        LoopWriter writer = writer(tasks::add, listener);

        writer.completed(1, null);
        writer.completed(2, new IllegalStateException("full"));
        writer.completed(3, null);
        tasks.forEach(Runnable::run);

        assertThat(listener.told).containsExactly("committed 1", "failed 2", "committed 3");
    }

    @Test
    void aLoopThatCouldNotTakeATaskIsToldWithTheNextOne() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        Listener listener = new Listener(0);
        boolean[] full = {true};
        LoopWriter writer = writer(
                task -> {
                    if (full[0]) {
                        throw new IllegalStateException("full");
                    }
                    tasks.add(task);
                },
                listener);

        writer.completed(1, new IllegalStateException("full"));
        full[0] = false;
        writer.completed(2, null);
        tasks.forEach(Runnable::run);

        assertThat(listener.told).containsExactly("failed 1", "committed 2");
    }

    private LoopWriter writer(Executor loop, Listener listener) {
        Database closed = new Database(directory, StoreSettings.defaults());
        StoreClock clock = StoreClock.after(null, System::nanoTime, new LinuxMachine());
        DiskQuota quota = new DiskQuota(closed, 0, java.util.concurrent.ForkJoinPool.commonPool());
        Store store = new Store(closed, clock, new SessionNumbers(1), 1, quota, new Heads(closed));
        return new LoopWriter(new Committer(store, 1), loop, listener);
    }

    private static final class Listener implements BrokerStore.CommitListener {

        private final List<String> told = new ArrayList<>();
        private final long badPosition;

        Listener(long badPosition) {
            this.badPosition = badPosition;
        }

        @Override
        public void committed(long position) {
            told.add("committed " + position);
            if (position == badPosition) {
                throw new IllegalStateException("not today");
            }
        }

        @Override
        public void failed(long position, Throwable cause) {
            told.add("failed " + position);
        }
    }
}
