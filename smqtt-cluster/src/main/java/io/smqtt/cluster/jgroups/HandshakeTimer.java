// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Deadlines of handshakes: each applies to the whole handshake, with any number of reads and writes. Has its own thread while handshakes
 * are in progress, and needs no closing.
 */
@AnyThread
final class HandshakeTimer {

    private static final int IDLE_SECONDS = 10;

    private final Duration patience;
    private final ScheduledThreadPoolExecutor clock;

    /**
     * Creates a timer.
     *
     * @param patience maximum duration of a handshake
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
     * Starts the deadline of a handshake.
     *
     * @param expired runs at the deadline; must not block
     * @return to be cancelled at the end of the handshake
     */
    Future<?> start(Runnable expired) {
        return clock.schedule(expired, patience.toNanos(), TimeUnit.NANOSECONDS);
    }
}
