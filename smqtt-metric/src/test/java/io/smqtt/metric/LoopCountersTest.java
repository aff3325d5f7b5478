// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoopCountersTest {

    private static final int ADDITIONS = 100_000;

    @Test
    void nothingIsLostWhateverTheThread() throws InterruptedException {
        LoopCounters counters = new LoopCounters(3);
        Runnable work = () -> {
            for (int i = 0; i < ADDITIONS; i++) {
                counters.add(0, 1);
                counters.add(1, 2, 2, 3);
            }
        };
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(new FastThreadLocalThread(work));
            threads.add(new Thread(work));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(counters.sum(0)).isEqualTo(6L * ADDITIONS);
        assertThat(counters.sum(1)).isEqualTo(12L * ADDITIONS);
        assertThat(counters.sum(2)).isEqualTo(18L * ADDITIONS);
        assertThat(counters.sum(0, 3)).isEqualTo(36L * ADDITIONS);
    }

    @Test
    void brokersShareNothing() throws InterruptedException {
        LoopCounters one = new LoopCounters(1);
        LoopCounters other = new LoopCounters(1);
        Thread thread = new FastThreadLocalThread(() -> one.add(0, 5));
        thread.start();
        thread.join();

        assertThat(one.sum(0)).isEqualTo(5);
        assertThat(other.sum(0)).isZero();
    }
}
