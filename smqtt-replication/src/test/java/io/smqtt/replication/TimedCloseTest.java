// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TimedCloseTest {

    private static final Duration LONG = Duration.ofMinutes(1);

    @Test
    void whatHangsIsNotAwaitedForEver() {
        CountDownLatch disk = new CountDownLatch(1);
        TimedClose closing = TimedClose.begin("test-close", () -> awaitDisk(disk));

        assertThat(closing.await(Duration.ofMillis(20))).isFalse();
        disk.countDown();
        assertThat(closing.await(LONG)).isTrue();
    }

    private static void awaitDisk(CountDownLatch disk) {
        try {
            disk.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void itsFailureIsThatOfTheCaller() {
        TimedClose read = TimedClose.begin("test-close", () -> {
            throw new IOException("no disk");
        });
        assertThatThrownBy(() -> read.await(LONG)).isInstanceOf(UncheckedIOException.class);
        TimedClose used = TimedClose.begin("test-close", () -> {
            throw new IllegalStateException("in use");
        });
        assertThatThrownBy(() -> used.await(LONG)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void anInterruptDoesNotEndIt() {
        CountDownLatch disk = new CountDownLatch(1);
        TimedClose closing = TimedClose.begin("test-close", () -> awaitDisk(disk));
        Thread.currentThread().interrupt();

        assertThat(closing.await(Duration.ofMillis(20))).isFalse();
        assertThat(Thread.interrupted()).isTrue();
        disk.countDown();
        assertThat(closing.await(LONG)).isTrue();
    }
}
