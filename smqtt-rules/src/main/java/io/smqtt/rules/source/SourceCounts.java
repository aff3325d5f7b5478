// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The account of a source: what was received is published, refused, failed, or in flight. */
@AnyThread
final class SourceCounts {

    final LongAdder received = new LongAdder();
    final LongAdder published = new LongAdder();
    final LongAdder refused = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder rejected = new LongAdder();
    final AtomicInteger inflight = new AtomicInteger();

    SourceCounts() {}

    /** A message has its answer. */
    void settled(boolean isPublished) {
        (isPublished ? published : failed).increment();
        inflight.decrementAndGet();
    }
}
