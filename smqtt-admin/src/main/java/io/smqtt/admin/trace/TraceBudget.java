// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.thread.AnyThread;
import io.smqtt.trace.TraceEvent;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Limits the memory of the events that wait to be written, of all traces of a node. */
@AnyThread
final class TraceBudget {

    private static final long EVENT_BYTES = 512;
    private static final long DETAIL_BYTES = 64;

    private final long maxBytes;
    private final AtomicLong bytes = new AtomicLong();

    TraceBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Takes room for an event. Returns false if there is none. */
    boolean take(int eventBytes) {
        if (bytes.addAndGet(eventBytes) <= maxBytes) {
            return true;
        }
        bytes.addAndGet(-eventBytes);
        return false;
    }

    void giveBack(int eventBytes) {
        bytes.addAndGet(-eventBytes);
    }

    /** About the heap that an event takes. */
    static int bytesOf(TraceEvent event) {
        long sum = EVENT_BYTES + event.payload().length;
        sum += event.topic() == null ? 0 : 2L * event.topic().value().length();
        for (Map.Entry<String, Object> detail : event.details().entrySet()) {
            sum += DETAIL_BYTES;
            if (detail.getValue() instanceof Iterable<?> list) {
                for (Object one : list) {
                    sum += DETAIL_BYTES + (one instanceof String text ? 2L * text.length() : 0);
                }
            } else if (detail.getValue() instanceof String text) {
                sum += 2L * text.length();
            }
        }
        return (int) Math.min(sum, Integer.MAX_VALUE / 2);
    }
}
