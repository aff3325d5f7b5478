// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.Ticker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Opens, closes and copies the store under test. */
public abstract class StoreContractBase {

    private static final int ENOUGH_BYTES = 100 << 20;

    @TempDir
    @Nullable
    Path directory;

    private final List<BrokerStore> stores = new ArrayList<>();
    private final List<StoreLoop> loops = new ArrayList<>();
    private Clock ticker = new Clock(1_000_000_000L);
    private int copies;
    private @Nullable Path place;
    private @Nullable BrokerStore store;
    private @Nullable StoreLoop loop;
    private @Nullable RecoveredStore recovered;

    StoreContractBase() {}

    /**
     * Opens the store that is kept at a place, or makes one there. Not yet recovered.
     *
     * @param place a directory of the test's own, which need not exist; other names for a store are made of it
     * @param ticker the broker's clock
     * @return the store
     */
    protected abstract BrokerStore open(Path place, Ticker ticker);

    /**
     * Copies a store as the end of the process would leave it at this moment, while it is open and being written to.
     *
     * @param from the place of an open store
     * @param to a place where there is nothing
     */
    protected void copy(Path from, Path to) {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeEach
    final void openFirst() {
        place = nextPlace();
        openPlace();
    }

    @AfterEach
    final void closeAll() {
        loops.forEach(StoreLoop::close);
        stores.forEach(BrokerStore::close);
    }

    private Path nextPlace() {
        if (directory == null) {
            throw new IllegalStateException("no directory");
        }
        return directory.resolve("store-" + copies++);
    }

    private void openPlace() {
        store = open(present(place), ticker);
        stores.add(store);
        recovered = new RecoveredStore();
        store.recover(recovered);
        loop = newLoop();
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("no store is open");
        }
        return value;
    }

    /** Closes the store and opens it again, with a clock of another process. */
    final void reopen() {
        store().close();
        ticker = new Clock(ticker.nanoTime() * 31 + 17);
        openPlace();
    }

    /** Goes on with a copy that is taken at once; the store itself is closed afterwards. */
    final void useCopy() {
        Path target = nextPlace();
        copy(present(place), target);
        store().close();
        place = target;
        openPlace();
    }

    final BrokerStore store() {
        return present(store);
    }

    /** A loop of the open store. */
    final StoreLoop loop() {
        return present(loop);
    }

    final StoreLoop newLoop() {
        StoreLoop made = new StoreLoop(store());
        loops.add(made);
        return made;
    }

    /** What was found when the store was opened last. */
    final RecoveredStore recovered() {
        return present(recovered);
    }

    final Clock ticker() {
        return ticker;
    }

    final long number() {
        return store().newSession();
    }

    final StoredPage page(long session, long from, int maxMessages) {
        return page(session, from, maxMessages, ENOUGH_BYTES);
    }

    final StoredPage page(long session, long from, int maxMessages, int maxBytes) {
        CompletableFuture<StoredPage> answer = new CompletableFuture<>();
        store().read(session, from, maxMessages, maxBytes, loop().executor(), answer::complete);
        StoredPage page = StoreLoop.get(answer);
        assertThat(page.failure()).isNull();
        return page;
    }

    final List<Long> sequences(long session, long from, int maxMessages) {
        return page(session, from, maxMessages).messages().stream()
                .map(StoredMessage::sequence)
                .toList();
    }

    final List<String> payloads(long session) {
        return page(session, 0, 100_000).messages().stream()
                .map(message -> message.message().payload().asString())
                .toList();
    }

    static List<Long> range(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }

    /** The broker's clock: stands still until it is moved. */
    static final class Clock implements Ticker {

        private final AtomicLong nanos;

        Clock(long nanos) {
            this.nanos = new AtomicLong(nanos);
        }

        @Override
        public long nanoTime() {
            return nanos.get();
        }

        void advanceMillis(long millis) {
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
        }
    }
}
