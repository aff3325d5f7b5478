// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Something that is being closed on a thread of its own, because a disk that hangs may make that last for ever. The thread does not keep the process
 * from its end.
 */
final class TimedClose {

    private final Closing closing;
    private final Thread thread;
    private volatile @Nullable Throwable failure;

    private TimedClose(String name, Closing closing) {
        this.closing = closing;
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    /**
     * Begins to close something.
     *
     * @param name the name of the thread
     */
    static TimedClose begin(String name, Closing closing) {
        TimedClose begun = new TimedClose(name, closing);
        begun.thread.start();
        return begun;
    }

    private void run() {
        try {
            closing.close();
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
    }

    /**
     * Waits for the end. An interrupt does not end that; the thread is interrupted afterwards.
     *
     * @param atMost the maximum time; can be waited again
     * @return whether it has ended
     * @throws UncheckedIOException if it has ended with such a failure, or with another one
     */
    boolean await(Duration atMost) {
        long endNanos = System.nanoTime() + atMost.toNanos();
        boolean interrupted = false;
        long leftMillis = atMost.toMillis();
        while (thread.isAlive() && leftMillis > 0) {
            try {
                thread.join(leftMillis);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            leftMillis = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            return false;
        }
        rethrow(failure);
        return true;
    }

    private static void rethrow(@Nullable Throwable cause) {
        if (cause instanceof IOException e) {
            throw new UncheckedIOException(e);
        }
        if (cause instanceof RuntimeException e) {
            throw e;
        }
        if (cause instanceof Error e) {
            throw e;
        }
    }

    /** Closes something. */
    interface Closing {

        void close() throws IOException;
    }
}
