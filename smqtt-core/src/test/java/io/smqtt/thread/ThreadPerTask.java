// SPDX-License-Identifier: Apache-2.0
package io.smqtt.thread;

import java.util.concurrent.Executor;

/**
 * Executor for tasks of tests that wait: starts a daemon thread for each. On two cores the common pool has one thread, and since Java
 * 25 {@link java.util.concurrent.CompletableFuture} uses it even then: a task that waits there for another one waits for ever. The
 * JDK's own {@link Process#onExit()} needs the common pool, too.
 */
public final class ThreadPerTask implements Executor {

    /** The only one: it has no state. */
    public static final Executor THREADS = new ThreadPerTask();

    private ThreadPerTask() {}

    @Override
    public void execute(Runnable task) {
        Thread thread = new Thread(task, "task of a test");
        thread.setDaemon(true);
        thread.start();
    }
}
