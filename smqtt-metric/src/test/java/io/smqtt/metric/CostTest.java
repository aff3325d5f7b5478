// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;
import java.lang.management.ManagementFactory;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class CostTest {

    private static final int CALLS = 50_000;

    @Test
    void whatIsToldPerMessageAllocatesNothing() throws InterruptedException {
        BrokerMeters meters = new BrokerMeters(new SimpleMeterRegistry(), Set.of("tcp"), null);
        AtomicLong bytes = new AtomicLong(-1);
        Thread loop = new FastThreadLocalThread(() -> bytes.set(allocated(meters)));
        loop.start();
        loop.join();

        assertThat(bytes.get()).isBetween(0L, (long) CALLS / 10); // one object each would be 800,000 bytes and more
        assertThat(meters.messages().delivered()).isEqualTo(3L * CALLS);
    }

    /** What the same calls allocate when they are made for the third time, in bytes. */
    private static long allocated(BrokerObserver meters) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        messages(meters);
        messages(meters);
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        messages(meters);
        return threads.getThreadAllocatedBytes(thread) - before;
    }

    private static void messages(BrokerObserver meters) {
        for (int i = 0; i < CALLS; i++) {
            meters.messageReceived(QoS.AT_LEAST_ONCE, 100, 1);
            meters.messageQueued(QoS.AT_LEAST_ONCE, 200);
            meters.messageDelivered(QoS.AT_LEAST_ONCE, 100);
        }
    }
}
