// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;
import java.util.function.ObjLongConsumer;

/**
 * QoS 1 messages of a stored session that were just sent and are not written yet. Most clients acknowledge a message within
 * this short time; then it needs no write, and its publisher is acknowledged without the store. A message that is not
 * acknowledged in time is written, and its publisher waits for that. After that, the client's next messages are written at
 * once, so that publishers do not wait repeatedly.
 *
 * <p>Messages of a session reach the store in order: before one is written at once, held back messages are written. Valid for
 * one connection.
 */
@OnEventLoop
final class WriteBehindWindow {

    /** The number of messages that are written at once after one that was not acknowledged in time. */
    private static final int WRITTEN_AT_ONCE = 32;

    private final InFlightWindow window;
    private final ObjLongConsumer<RouteTicket> writing;
    private final StoreLoop loop;
    private int count;
    private int writeAtOnce;
    private boolean listed;

    /** The first sequence number that may be held back. */
    private long first;

    /** The end of those that were already held back at the last turn. */
    private long aged;

    /**
     * Creates an empty window.
     *
     * @param writing writes a message by its sequence number, and holds the ticket until it is committed
     */
    WriteBehindWindow(InFlightWindow window, ObjLongConsumer<RouteTicket> writing, StoreLoop loop) {
        this.window = window;
        this.writing = writing;
        this.loop = loop;
    }

    /**
     * Holds back the message that was added to the window last.
     *
     * @param sequence its sequence number
     * @param ticket held in the meantime
     * @return false if the message must be written at once
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

    /** Removes an ended message. Returns true if it was held back and needs no write. */
    boolean remove(long sequence) {
        if (!window.is(sequence, InFlightWindow.HELD_BACK)) {
            return false;
        }
        count--;
        window.takeTicket(sequence).release(true);
        return true;
    }

    /** Writes all held back messages. */
    void writeAll() {
        if (count > 0) {
            write(window.tail());
        }
    }

    /**
     * Writes the messages that were already held back at the last turn.
     *
     * @return whether another turn is needed
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
        ticket.release(true); // the write has its own hold
    }
}
