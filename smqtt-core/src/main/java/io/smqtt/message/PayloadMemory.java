// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The network buffers in which payloads are used in place, and their limit. A buffer counts as a whole while any of its payloads is in use
 * or waits for a socket. Above the limit payloads are copied to the heap.
 */
@AnyThread
public final class PayloadMemory {

    private final AtomicLong bytes = new AtomicLong();
    private final long limitBytes;

    /**
     * Creates an account.
     *
     * @param limitBytes the maximum size of these buffers; 0 to copy all payloads
     */
    public PayloadMemory(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /**
     * The size of the network buffers that payloads are used in.
     *
     * @return bytes outside of the heap
     */
    public long bytes() {
        return bytes.get();
    }

    /** Whether less than half of the limit is in use. */
    boolean isHalfFree() {
        return bytes.get() < limitBytes / 2;
    }

    /** Adds a buffer; returns false if it does not fit. */
    boolean reserve(int size) {
        if (bytes.addAndGet(size) <= limitBytes) {
            return true;
        }
        bytes.addAndGet(-size);
        return false;
    }

    void release(int size) {
        bytes.addAndGet(-size);
    }
}
