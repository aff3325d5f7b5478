// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

class SourceRunsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final SourceRuns runs = new SourceRuns("runs-test", PATIENCE);

    /** Reads until it may return, or fails. */
    private static class Reading implements SourceRuns.Run {

        final CountDownLatch began = new CountDownLatch(1);
        final CountDownLatch mayReturn = new CountDownLatch(1);
        final AtomicInteger ends = new AtomicInteger();
        volatile String thread = "";
        volatile Exception failure;

        @Override
        public void read() throws Exception {
            thread = Thread.currentThread().getName();
            began.countDown();
            mayReturn.await();
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        public void end() {
            ends.incrementAndGet();
        }
    }

    @AfterEach
    void close() {
        runs.close();
    }

    @Test
    void runCompletesOrFailsAsItsReading() {
        Reading good = new Reading();
        good.mayReturn.countDown();
        runs.run(() -> good).block(PATIENCE);
        assertThat(good.thread).isEqualTo("runs-test");

        Reading bad = new Reading();
        bad.failure = new SinkException("no server", true);
        bad.mayReturn.countDown();
        assertThatThrownBy(() -> runs.run(() -> bad).block(PATIENCE)).isSameAs(bad.failure);
        assertThat(good.ends.get() + bad.ends.get()).isZero();
        runs.ended().block(PATIENCE);
    }

    @Test
    void endOfACancelledRunIsWaitedFor() throws Exception {
        Reading reading = new Reading();
        Disposable run = runs.run(() -> reading).subscribe();
        reading.began.await();
        run.dispose();
        assertThat(reading.ends).hasValue(1);
        Mono<Void> ended = runs.ended().cache();
        AtomicInteger signals = new AtomicInteger();
        ended.subscribe(nothing -> {}, error -> {}, signals::incrementAndGet);
        assertThat(signals).hasValue(0);

        reading.failure = new IllegalStateException("of no interest after the end");
        reading.mayReturn.countDown();
        ended.block(PATIENCE);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(signals).hasValue(1));
    }

    @Test
    void closeEndsTheRunsAndNoneBegins() throws Exception {
        Reading reading = new Reading() {
            @Override
            public void end() {
                super.end();
                mayReturn.countDown();
            }
        };
        Disposable run = runs.run(() -> reading).subscribe();
        reading.began.await();
        runs.close();
        run.dispose();
        assertThat(reading.ends).hasValue(1);
        assertThatThrownBy(() -> runs.run(Reading::new).block(PATIENCE)).hasMessage("the source is closed");
    }

    @Test
    void runWithoutAThreadIsOver() {
        Reading reading = new Reading();
        try (SourceRuns none = new SourceRuns(
                run -> new Thread(run) {
                    @Override
                    public synchronized void start() {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                },
                PATIENCE)) {
            assertThatThrownBy(() -> none.run(() -> reading).block(PATIENCE))
                    .hasMessage("no thread can be started: unable to create native thread");
            assertThat(reading.ends).hasValue(1);
            none.ended().block(PATIENCE);
        }
    }
}
