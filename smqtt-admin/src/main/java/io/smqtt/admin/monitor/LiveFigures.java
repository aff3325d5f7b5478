// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import io.smqtt.thread.AnyThread;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The figures of this node for pages that show those of all nodes, with rates over about the last second. They are read about once a second
 * while somebody asks, whoever asks and how often.
 */
@AnyThread
final class LiveFigures {

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(700);

    /** After a longer pause the rates are those since the last sample of the history. */
    private static final double LONGEST_SECONDS = 3;

    private final Monitor monitor;
    private @Nullable Reading last; // guarded by this
    private Map<String, Object> fields = Map.of(); // guarded by this

    LiveFigures(Monitor monitor) {
        this.monitor = monitor;
    }

    /** The figures by their names in JSON; not to be changed. */
    synchronized Map<String, Object> fields() {
        Reading before = last;
        if (before == null || System.nanoTime() - before.nanos() >= SHORTEST_NANOS) {
            Monitor.Pair current = monitor.current();
            if (before != null && current.now().secondsSince(before) <= LONGEST_SECONDS) {
                current = new Monitor.Pair(before, current.now());
            }
            fields = current.fields();
            last = current.now();
        }
        return fields;
    }
}
