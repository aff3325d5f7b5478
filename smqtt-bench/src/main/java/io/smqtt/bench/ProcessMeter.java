// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import org.jspecify.annotations.Nullable;

/** Measures what a process uses while a load is measured. For one thread. */
final class ProcessMeter {

    private final @Nullable Long pid;
    private @Nullable ProcessUse before;
    private @Nullable ProcessUse during;

    /**
     * Creates a meter.
     *
     * @param pid a process of this machine; null to measure none
     */
    ProcessMeter(@Nullable Long pid) {
        this.pid = pid;
    }

    /** Begins, if it has not begun. */
    void begin() {
        if (pid != null && before == null) {
            before = ProcessUse.of(pid);
        }
    }

    /** Ends, if it has begun. */
    void end() {
        if (pid != null && before != null) {
            during = ProcessUse.of(pid).since(before);
        }
    }

    /** The use between begin and end; null if nothing was measured. */
    @Nullable
    ProcessUse use() {
        return during;
    }
}
