// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes of requests and answers that the management port holds at a time, so that callers who send much, or read slowly, leave the heap
 * to the broker. Requests and answers have a limit each, in proportion to the heap. The first {@value #FREE_BYTES} bytes of each are not
 * counted: the number of connections limits them, and logins need no more.
 */
@AnyThread
final class ManagementMemory {

    /** The bytes of a request, and of an answer, that are not counted. */
    static final int FREE_BYTES = 16 << 10;

    private static final int REQUESTS_SHARE = 32;
    private static final int ANSWERS_SHARE = 16;
    private static final long LEAST = 1L << 20;
    private static final long MOST = 64L << 20;

    private final Budget requests;
    private final Budget answers;

    private ManagementMemory(Budget requests, Budget answers) {
        this.requests = requests;
        this.answers = answers;
    }

    /** For a heap of this maximum size. */
    static ManagementMemory of(long heapBytes) {
        return new ManagementMemory(
                new Budget(limit(heapBytes / REQUESTS_SHARE)), new Budget(limit(heapBytes / ANSWERS_SHARE)));
    }

    private static long limit(long bytes) {
        return Math.max(LEAST, Math.min(MOST, bytes));
    }

    /** {@return the maximum size of the body of a request} */
    int maxBodyBytes() {
        return (int) requests.most;
    }

    /** {@return the counted bytes of requests and answers at this moment} */
    long held() {
        return requests.held.get() + answers.held.get();
    }

    /** {@return what a new request holds} */
    Share share() {
        return new Share();
    }

    /**
     * The counted bytes of one kind.
     *
     * @param most their limit
     * @param held their number
     */
    private record Budget(long most, AtomicLong held) {

        Budget(long most) {
            this(most, new AtomicLong());
        }

        /** Counts bytes; {@code always} also beyond the limit if there are no others. */
        boolean take(long bytes, boolean always) {
            if (bytes == 0) {
                return true;
            }
            long all = held.addAndGet(bytes);
            if (all <= most || always && all == bytes) {
                return true;
            }
            give(bytes);
            return false;
        }

        void give(long bytes) {
            held.addAndGet(-bytes);
        }
    }

    /** The memory that one request and its response have reserved. */
    @AnyThread
    final class Share {

        private long requested;
        private long answered;
        private long received;
        private boolean refused;
        private boolean released;

        /** Counts a further part of the body; false if there is no room for it. */
        synchronized boolean receive(int bytes) {
            long before = Math.max(0, received - FREE_BYTES);
            received += bytes;
            long counted = Math.max(0L, received - FREE_BYTES) - before;
            if (released || !requests.take(counted, false)) {
                refused = true;
                return false;
            }
            requested += counted;
            return true;
        }

        /** Whether there was no room for the body, so that the rest of it is not read. */
        synchronized boolean isRefused() {
            return refused;
        }

        /** Counts the answer; false if there is no room for it. One that is larger than the limit has room if there are no others. */
        synchronized boolean answer(int bytes) {
            long counted = Math.max(0, bytes - FREE_BYTES);
            if (released || !answers.take(counted, true)) {
                return false;
            }
            answered += counted;
            return true;
        }

        /** Ends the share. */
        synchronized void release() {
            released = true;
            requests.give(requested);
            answers.give(answered);
            requested = 0;
            answered = 0;
        }
    }
}
