// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/** Waits for conditions that only the cluster's loop can check. */
@AnyThread
final class LoopWaits {

    private static final long POLL_MILLIS = 20;

    private final EventExecutor loop;

    /**
     * Creates the waits of a loop.
     *
     * @param loop the cluster's loop
     */
    LoopWaits(EventExecutor loop) {
        this.loop = loop;
    }

    /**
     * Waits for a condition.
     *
     * @param condition checked on the loop
     * @param longest the longest wait
     * @return completes when the condition is true, or at the timeout, or when the loop has ended
     */
    Mono<Void> until(BooleanSupplier condition, Duration longest) {
        return Mono.<Void>create(sink -> {
                    AtomicBoolean over = new AtomicBoolean();
                    sink.onDispose(() -> over.set(true));
                    try {
                        loop.execute(() -> poll(condition, sink, over));
                    } catch (RejectedExecutionException e) {
                        sink.success(); // the waiter is gone
                    }
                })
                .timeout(longest, Mono.empty(), Schedulers.parallel());
    }

    private void poll(BooleanSupplier condition, MonoSink<Void> sink, AtomicBoolean over) {
        if (condition.getAsBoolean()) {
            sink.success();
        } else if (!over.get() && !loop.isShuttingDown()) {
            loop.schedule(() -> poll(condition, sink, over), POLL_MILLIS, TimeUnit.MILLISECONDS);
        }
    }
}
