// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;
import java.util.function.ObjLongConsumer;

/**
 * QoS 1 messages of a stored session that were sent a moment ago and are not written yet. Most clients acknowledge within
 * that moment; then the message has arrived, nothing of it needs to be kept, and its publisher is answered without the
 * store having heard of it. What is not acknowledged in time is written, and its publisher waits for that. A client that
 * was too slow gets its next messages written at once, so that publishers do not wait for it again and again.
 *
 * <p>Messages of a session reach the store in their order: before one is written at once, those that are held back are.
 * Valid for a connection.
 */
@OnEventLoop
final class WriteBehindWindow {

    /** How many messages are written at once after one that was not acknowledged in time. */
    private static final int WRITTEN_AT_ONCE = 32;

    private final InFlightWindow window;
    private final ObjLongConsumer<RouteTicket> writing;
    private final StoreLoop loop;
    private int count;
    private int writeAtOnce;
    private boolean listed;

    /** No message before this one is held back. */
    private long first;

    /** What is before this one was there at the last turn of the loop already. */
    private long aged;

    /**
     * Creates a window that is empty.
     *
     * @param writing writes a message by its place in the window, and holds the ticket until it is safe
     */
    WriteBehindWindow(InFlightWindow window, ObjLongConsumer<RouteTicket> writing, StoreLoop loop) {
        this.window = window;
        this.writing = writing;
        this.loop = loop;
    }

    /**
     * Holds back the message that was added to the window last.
     *
     * @param sequence its place
     * @param ticket is held meanwhile
     * @return false if it is to be written at once
     */
    boolean add(long sequence, RouteTicket ticket) {
        if (writeAtOnce > 0 || loop.isFailing()) {
            writeAtOnce = Math.max(0, writeAtOnce - 1);
            writeAll();
            return false;
        }
        boolean waits = ticket != RouteTicket.NONE && ticket.waitsForStore();
        if (waits) {
            ticket.hold();
        }
        window.holdBack(sequence, waits ? ticket : RouteTicket.NONE);
        if (count++ == 0) {
            first = sequence;
        }
        if (!listed) {
            listed = true;
            aged = sequence;
            loop.holdsBack(this);
        }
        return true;
    }

    /** A message is done with. Returns true if it was held back: the store need not know. */
    boolean remove(long sequence) {
        if (!window.is(sequence, InFlightWindow.HELD_BACK)) {
            return false;
        }
        count--;
        window.takeTicket(sequence).release(true);
        return true;
    }

    /** Writes all of them. */
    void writeAll() {
        if (count > 0) {
            write(window.tail());
        }
    }

    /**
     * Writes what was there at the last turn already.
     *
     * @return whether another turn is wanted
     */
    boolean turn() {
        if (count > 0) {
            int before = count;
            write(aged);
            if (count < before) {
                writeAtOnce = WRITTEN_AT_ONCE;
            }
        }
        aged = window.tail();
        listed = count > 0;
        return listed;
    }

    private void write(long end) {
        for (long sequence = window.from(first); sequence < end && count > 0; sequence = window.from(sequence + 1)) {
            if (window.is(sequence, InFlightWindow.HELD_BACK)) {
                write(sequence, window.takeTicket(sequence));
            }
        }
        first = Math.max(first, end);
    }

    private void write(long sequence, RouteTicket ticket) {
        count--;
        writing.accept(ticket, sequence);
        ticket.release(true); // what is written holds it on its own
    }
}
