// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeapWatchTest {

    private static final long MEBIBYTE = 1 << 20;
    private static final long QUIET = Duration.ofSeconds(10).toNanos();
    private static final long SPAN = Duration.ofMinutes(10).toNanos();
    private static final long PERIOD = Duration.ofHours(6).toNanos();

    @TempDir
    Path directory;

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private long connections;
    private final Logger log = new LoggerContext().getLogger("watch");

    @BeforeEach
    void listen() {
        lines.start();
        log.addAppender(lines);
    }

    @Test
    void whatStaysInUseIsWrittenDown() throws IOException {
        FakeHeap heap = new FakeHeap(false);
        HeapWatch watch = watch(heap);

        heap.used = 500 * MEBIBYTE;
        watch.look(1);
        heap.used = 400 * MEBIBYTE;
        watch.look(2);
        heap.used = 900 * MEBIBYTE;
        watch.look(SPAN);

        assertThat(record().read()).as("the least of the span").isEqualTo(400);
    }

    @Test
    void whatIsOverIsForgottenAfterTwoPeriods() throws IOException {
        record().write(3_000);
        FakeHeap heap = new FakeHeap(false);
        heap.used = 100 * MEBIBYTE;
        HeapWatch watch = watch(heap);

        watch.look(SPAN);
        assertThat(record().read()).isEqualTo(3_000);
        watch.look(PERIOD);
        assertThat(record().read()).isEqualTo(100);
    }

    @Test
    void smallChangesAreWrittenAtTheEndOnly() throws IOException {
        record().write(1_000);
        FakeHeap heap = new FakeHeap(false);
        heap.used = 1_200 * MEBIBYTE;
        HeapWatch watch = watch(heap);

        watch.look(SPAN);
        assertThat(record().read()).isEqualTo(1_000);
        watch.close();
        assertThat(record().read()).isEqualTo(1_200);
    }

    @Test
    void aShortRunCountsToo() throws IOException {
        FakeHeap heap = new FakeHeap(false);
        HeapWatch watch = watch(heap);

        heap.used = 2_000 * MEBIBYTE;
        watch.look(1);
        watch.close();

        assertThat(record().read()).isEqualTo(2_000);
    }

    @Test
    void theSerialCollectorIsToldToCollectWhatHasPiledUp() {
        FakeHeap heap = new FakeHeap(true);
        heap.after = 30 * MEBIBYTE;
        HeapWatch watch = watch(heap);

        heap.used = 124 * MEBIBYTE;
        watch.look(QUIET);
        assertThat(heap.collections).isZero();
        heap.used = 125 * MEBIBYTE;
        watch.look(QUIET + 1);
        assertThat(heap.collections).isEqualTo(1);
    }

    @Test
    void moreMayPileUpWhileYoungObjectsAreCollected() {
        FakeHeap heap = new FakeHeap(true);
        heap.after = 30 * MEBIBYTE;
        HeapWatch watch = watch(heap);

        heap.young++;
        heap.used = 188 * MEBIBYTE;
        watch.look(1);
        assertThat(heap.collections).as("while busy").isZero();
        heap.young++;
        heap.used = 189 * MEBIBYTE;
        watch.look(2);
        assertThat(heap.collections).as("with too much").isEqualTo(1);
        heap.used = 125 * MEBIBYTE;
        watch.look(1 + QUIET);
        assertThat(heap.collections).as("a moment later").isEqualTo(1);
        watch.look(2 + QUIET);
        assertThat(heap.collections).as("when it is quiet").isEqualTo(2);
    }

    @Test
    void evenMoreMayPileUpInAStormOfConnections() {
        FakeHeap heap = new FakeHeap(true);
        heap.after = 30 * MEBIBYTE;
        HeapWatch watch = watch(heap);

        heap.used = 444 * MEBIBYTE;
        connections += HeapWatch.STORM_CONNECTIONS;
        watch.look(QUIET);
        assertThat(heap.collections).as("in a storm").isZero();
        heap.used = 445 * MEBIBYTE;
        watch.look(2 * QUIET - 1);
        assertThat(heap.collections).as("with too much").isEqualTo(1);
        heap.used = 444 * MEBIBYTE;
        connections += HeapWatch.STORM_CONNECTIONS - 1;
        watch.look(2 * QUIET);
        assertThat(heap.collections).as("when fewer connect").isEqualTo(2);
    }

    @Test
    void pausesAreNotAddedWhereTheyAreLong() {
        FakeHeap heap = new FakeHeap(true);
        heap.after = HeapWatch.LIMIT_BYTES;
        heap.used = 9_000 * MEBIBYTE;

        watch(heap).look(1);

        assertThat(heap.collections).isZero();
    }

    @Test
    void collectorsOfTheirOwnPaceAreLeftAlone() {
        FakeHeap heap = new FakeHeap(false);
        heap.used = 9_000 * MEBIBYTE;

        watch(heap).look(1);

        assertThat(heap.collections).isZero();
        assertThat(lines.list).isEmpty();
    }

    @Test
    void theWrongCollectorIsSaidOnce() {
        FakeHeap heap = new FakeHeap(true);
        HeapWatch watch = watch(heap);

        heap.after = HeapWatch.LIMIT_BYTES - 1;
        watch.look(1);
        assertThat(lines.list).isEmpty();
        heap.after = 300 * MEBIBYTE;
        watch.look(2);
        watch.look(3);

        assertThat(lines.list)
                .singleElement()
                .asString()
                .contains("300 MiB of the heap are in use")
                .contains("the next start")
                .contains("--profile large");
    }

    @Test
    void withoutAStoreNothingIsWritten() {
        FakeHeap heap = new FakeHeap(true);
        heap.after = 300 * MEBIBYTE;
        HeapWatch watch = watch(heap, null);

        watch.look(SPAN);
        watch.close();

        assertThat(directory).isEmptyDirectory();
        assertThat(lines.list).singleElement().asString().doesNotContain("the next start");
    }

    @Test
    void aRecordThatCannotBeWrittenIsSaidOnce() throws IOException {
        Files.createDirectories(record().file().resolve("in the way"));
        FakeHeap heap = new FakeHeap(false);
        heap.used = 300 * MEBIBYTE;
        HeapWatch watch = watch(heap);

        watch.look(SPAN);
        watch.close();

        assertThat(lines.list).singleElement().asString().contains("cannot choose its collector");
    }

    @Test
    void theRecordIsTheOwnersAlone() throws IOException {
        record().write(4_711);

        assertThat(Files.readString(record().file())).isEqualTo("4711\n");
        assertThat(Files.getPosixFilePermissions(record().file()))
                .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    }

    @Test
    void aRecordWithoutANumberIsNone() throws IOException {
        Files.writeString(record().file(), "4711 MiB, or so\n");

        assertThat(record().read()).isZero();
    }

    @Test
    void theHeapOfThisProcessIsSeen() {
        ProgramHeap heap = ProgramHeap.ofProcess();

        long young = heap.youngCollections();
        heap.collect();

        assertThat(heap.used()).isPositive();
        assertThat(young).isNotNegative();
    }

    private HeapRecord record() {
        return HeapRecord.in(directory);
    }

    private HeapWatch watch(ProgramHeap heap) {
        return watch(heap, record());
    }

    private HeapWatch watch(ProgramHeap heap, @Nullable HeapRecord record) {
        return new HeapWatch(heap, () -> connections, record, 0, log);
    }

    private static final class FakeHeap implements ProgramHeap {

        private final boolean stopsForAll;
        private long used;
        private long after;
        private long young;
        private int collections;

        FakeHeap(boolean stopsForAll) {
            this.stopsForAll = stopsForAll;
        }

        @Override
        public boolean stopsForAll() {
            return stopsForAll;
        }

        @Override
        public long used() {
            return used;
        }

        @Override
        public long usedAfterCollection() {
            return after;
        }

        @Override
        public long youngCollections() {
            return young;
        }

        @Override
        public void collect() {
            collections++;
        }
    }
}
