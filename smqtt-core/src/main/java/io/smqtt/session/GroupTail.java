// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The part of a shared group's queue that is only in the store, behind all messages in memory. It is read page by page, up
 * to the first uncommitted message.
 */
@OnEventLoop
final class GroupTail {

    private final GroupQueue queue;
    private final GroupRecord record;

    /** The number of the first message that is only in the store. The count includes uncommitted ones. */
    private long from = GroupRecord.FIRST_WAITING;

    private int count;
    private boolean reading;

    /** The numbers of uncommitted messages among them. */
    private final TreeSet<Long> unsettled = new TreeSet<>();

    GroupTail(GroupQueue queue, GroupRecord record) {
        this.queue = queue;
        this.record = record;
    }

    /** Restores the tail from the store. At the start. */
    @AnyThread
    void recovered(long first, int messages) {
        from = first;
        count = messages;
    }

    boolean isEmpty() {
        return count == 0;
    }

    boolean isReading() {
        return reading;
    }

    /** Sets the start of an empty tail: all messages before a number are in memory. */
    void beginsAt(long number) {
        from = number;
    }

    /** Counts a message that is only in the store. */
    void add() {
        count++;
    }

    /** Marks the added message as uncommitted. */
    void unsettled(long number) {
        unsettled.add(number);
    }

    /** Completes the write of a message, which is committed or has failed. */
    void appendCompleted(long number, boolean kept) {
        unsettled.remove(number);
        count -= kept ? 0 : 1;
    }

    /** Handles a message that could not be stored. Returns false if it was read before that. */
    boolean appendFailed(long number) {
        boolean found = number >= from && count > 0;
        count -= found ? 1 : 0;
        return found;
    }

    void clear() {
        count = 0;
        unsettled.clear();
    }

    /** The number of the first message that the store may not show yet. */
    private long barrier() {
        return unsettled.isEmpty() ? Long.MAX_VALUE : unsettled.first();
    }

    /** Whether a page may be read now: no read is pending, and there is a committed message. */
    private boolean canRead() {
        return !reading && count > 0 && from < barrier();
    }

    /** Whether a message that was read waits and is not assigned to a member. */
    private boolean isUnread(StoredMessage row) {
        return row.sequence() >= from && !record.isSentAtOnce(row.sequence());
    }

    private GroupMessage entry(StoredMessage row) {
        return new GroupMessage(queue, row.message(), row.sequence(), record.number());
    }

    /** Reads a page into the queue's memory, if there is one. */
    void read() {
        if (canRead()) {
            reading = true;
            long end = Math.min(
                    queue.next(), barrier()); // the page may have messages behind it, and not yet all before these
            record.read(from, page -> read(page, end));
        }
    }

    private void read(StoredPage page, long end) {
        reading = false;
        if (queue.hasEnded()) {
            return;
        }
        Throwable failure = page.failure();
        if (failure != null) {
            queue.loop().readFailed(failure);
            queue.loop().later(queue::serve);
            return;
        }
        for (StoredMessage row : page.messages()) {
            if (row.sequence() >= end) {
                break;
            }
            if (isUnread(row)) {
                count--;
                queue.addLoaded(entry(row));
            }
            from = Math.max(from, row.sequence() + 1);
        }
        if (page.messages().isEmpty() || page.messages().get(0).sequence() >= end) {
            from = Math.max(from, end);
            if (from == queue.next() && count > 0) { // these were not stored, or have ended
                queue.uncountMissing(count);
                count = 0;
            }
        }
        queue.serve();
    }

    /**
     * Visits all messages, page by page.
     *
     * @param each visits each waiting message
     * @return false if that is not possible now
     */
    boolean sweep(Consumer<GroupMessage> each) {
        if (!canRead()) {
            return count == 0;
        }
        reading = true;
        sweep(from, each);
        return true;
    }

    private void sweep(long first, Consumer<GroupMessage> each) {
        long barrier = barrier(); // the page may not have what is committed after it was requested
        record.read(first, page -> {
            List<StoredMessage> rows = page.messages();
            boolean failed = page.failure() != null;
            if (queue.hasEnded() || failed || rows.isEmpty() || rows.get(0).sequence() >= barrier) {
                reading = false;
                queue.sweepCompleted(!failed && barrier == Long.MAX_VALUE);
                return;
            }
            for (StoredMessage row : rows) {
                if (row.sequence() < barrier && isUnread(row)) {
                    each.accept(entry(row));
                }
            }
            sweep(rows.get(rows.size() - 1).sequence() + 1, each);
        });
    }

    /** Uncounts a visited message that is removed. */
    void removed() {
        count--;
    }
}
