// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.PrintStream;
import java.util.concurrent.TimeUnit;

/** Prints the progress every other second. */
final class DataProgress {

    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int LOOK_EVERY = 1 << 10; // lines

    private final PrintStream err;
    private final String done;
    private long lines;
    private long saidNanos = System.nanoTime();

    DataProgress(PrintStream err, String done) {
        this.err = err;
        this.done = done;
    }

    void line() {
        lines++;
        if (lines % LOOK_EVERY == 0 && System.nanoTime() - saidNanos >= EVERY_NANOS) {
            saidNanos = System.nanoTime();
            end();
        }
    }

    void end() {
        err.println("smqtt: " + lines + " lines " + done);
    }
}
