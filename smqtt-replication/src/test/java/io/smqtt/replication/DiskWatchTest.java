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
    private volatile boolean isFull = true;

    private void write(Path directory) throws IOException {
        attempts.incrementAndGet();
        if (isFull) {
            throw new IOException("No space left on device");
        }
    }

    @Test
    void theDiskIsWritableWhenItHasRoomAgain() {
        try (DiskWatch watch = new DiskWatch(Path.of("data"), Duration.ofMillis(1), this::write)) {
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
        DiskWatch watch = new DiskWatch(Path.of("data"), Duration.ofDays(1), this::write);
        watch.begin();
        watch.close();
        watch.begin();
        assertThat(attempts).hasValue(0);
        assertThat(watch.isWritable()).isFalse();
    }
}
