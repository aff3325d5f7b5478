// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.thread.AnyThread;

/** The thread that starts the broker, which a stop signal ends while it waits for other nodes. */
@AnyThread
final class StartThread {

    private final Thread thread = Thread.currentThread();
    private boolean waits; // guarded by this
    private boolean interrupted; // guarded by this

    /**
     * Creates the state of the calling thread.
     *
     * @param waits whether the start may wait for other nodes for minutes; other starts are short, and run to their end
     */
    StartThread(boolean waits) {
        this.waits = waits;
    }

    /** Interrupts the start, if it may wait. */
    synchronized void end() {
        if (waits) {
            interrupted = true;
            thread.interrupt();
        }
    }

    /** The start has ended. Called by its thread, which is not interrupted any more. */
    synchronized void ended() {
        waits = false;
        if (interrupted) {
            Thread.interrupted();
        }
    }

    /** Whether the start was interrupted. */
    synchronized boolean wasEnded() {
        return interrupted;
    }
}
