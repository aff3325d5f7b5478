// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DiskWatchTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final AtomicInteger attempts = new AtomicInteger();
    private final AtomicInteger recoveries = new AtomicInteger();
    private volatile DiskWatch.Result result = DiskWatch.Result.NEVER;
    private volatile boolean isNeeded;
    private volatile boolean isFull = true;

    private void write(Path directory) throws IOException {
        attempts.incrementAndGet();
        if (isFull) {
            throw new IOException("No space left on device");
        }
    }

    private DiskWatch watch(Duration interval) {
        return new DiskWatch(Path.of("data"), interval, this::write, new DiskWatch.Recovery() {
            @Override
            public DiskWatch.Result recover() {
                recoveries.incrementAndGet();
                return result;
            }

            @Override
            public boolean isNeeded() {
                return isNeeded;
            }
        });
    }

    @Test
    void theReplicasAreOpenedWhenTheDiskHasRoomAgainAndOftenerIfItIsFullAgain() {
        result = DiskWatch.Result.LATER;
        try (DiskWatch watch = watch(Duration.ofMillis(1))) {
            watch.begin();
            await().atMost(PATIENCE).until(() -> attempts.get() > 2);
            assertThat(recoveries).hasValue(0);
            isFull = false;
            await().atMost(PATIENCE).until(() -> recoveries.get() > 2);
            isNeeded = true; // one has failed while the others were opened
            result = DiskWatch.Result.DONE;
            int before = recoveries.get();
            await().atMost(PATIENCE).until(() -> recoveries.get() > before + 2);
            isNeeded = false;

            int seen = recoveries.get() + 1; // one may be under way
            await().atMost(PATIENCE).until(() -> {
                watch.begin(); // after a later failure
                return recoveries.get() > seen;
            });
            assertThat(watch.isWritable()).isFalse();
        }
    }

    @Test
    void theDiskIsWritableWhenItHasRoomAgain() {
        try (DiskWatch watch = watch(Duration.ofMillis(1))) {
            assertThat(watch.isWritable()).isFalse();
            watch.begin();
            watch.begin();
            await().atMost(PATIENCE).until(() -> attempts.get() > 2);
            assertThat(watch.isWritable()).isFalse();
            isFull = false;
            await().atMost(PATIENCE).until(watch::isWritable);
        }
    }

    @Test
    void nothingIsWrittenBeforeItBeginsAndAfterItsEnd() {
        DiskWatch watch = watch(Duration.ofDays(1));
        watch.begin();
        watch.close();
        watch.begin();
        assertThat(attempts).hasValue(0);
        assertThat(watch.isWritable()).isFalse();
    }
}
