// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A recording that grows. Thread-safe. */
final class RecordingLog {

    private final long startNanos = System.nanoTime();
    private final List<SessionRecording.Entry> entries = new ArrayList<>();

    synchronized void packet(Side sender, byte[] bytes) {
        entries.add(new SessionRecording.Entry(Duration.ofNanos(System.nanoTime() - startNanos), sender, bytes));
    }

    /** The first of both sides to end the connection is kept. */
    synchronized void ended(Side sender) {
        if (entries.isEmpty() || !entries.get(entries.size() - 1).isEnd()) {
            packet(sender, new byte[0]);
        }
    }

    synchronized SessionRecording snapshot() {
        return new SessionRecording(entries);
    }
}
