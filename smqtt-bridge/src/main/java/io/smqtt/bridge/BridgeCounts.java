// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.LongAdder;

/** What a bridge has forwarded since the start of the broker. */
@AnyThread
final class BridgeCounts {

    private static final int DUPLICATE = 8;

    private final LongAdder sent = new LongAdder();
    private final LongAdder received = new LongAdder();
    private final LongAdder resent = new LongAdder();
    private volatile long rttNanos;

    /** Counts a PUBLISH to the other broker. */
    void sent(ByteBuf packet) {
        boolean again = (packet.getByte(packet.readerIndex()) & DUPLICATE) != 0;
        (again ? resent : sent).increment();
    }

    /** Counts a PUBLISH from the other broker. */
    void received() {
        received.increment();
    }

    /** Keeps the time that an answer of the other broker took. */
    void answered(long nanos) {
        rttNanos = nanos;
    }

    long sent() {
        return sent.sum();
    }

    long resent() {
        return resent.sum();
    }

    long receivedCount() {
        return received.sum();
    }

    /** The time of the last answer in nanoseconds; 0 if there was none. */
    long rttNanos() {
        return rttNanos;
    }
}
