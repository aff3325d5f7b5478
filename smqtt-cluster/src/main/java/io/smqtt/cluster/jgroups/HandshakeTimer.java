// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Deadlines of handshakes: each holds for the handshake as a whole, however many reads and writes that takes. Has a thread
 * of its own while handshakes are under way, and needs no closing.
 */
@AnyThread
final class HandshakeTimer {

    private static final int IDLE_SECONDS = 10;

    private final Duration patience;
    private final ScheduledThreadPoolExecutor clock;

    /**
     * Creates a timer.
     *
     * @param patience how long a handshake may take
     */
    HandshakeTimer(Duration patience) {
        this.patience = patience;
        clock = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "smqtt-cluster-handshake-timer");
            thread.setDaemon(true);
            return thread;
        });
        clock.setRemoveOnCancelPolicy(true);
        clock.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        clock.allowCoreThreadTimeOut(true);
    }

    /**
     * A handshake begins.
     *
     * @param expired is run when it has taken too long; must not block
     * @return what is to be cancelled when the handshake is over
     */
    Future<?> start(Runnable expired) {
        return clock.schedule(expired, patience.toNanos(), TimeUnit.NANOSECONDS);
    }
}
