// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What one pass of an event loop produces for peers. All that goes to one peer is handed over at the end of the pass, by one
 * queue offer; and a message that reaches a peer in several ways becomes one. On its event loop.
 */
final class LoopBuffers {

    private final @Nullable RoutingLoop loop;
    private final Runnable flushTask = this::flush;
    private @Nullable Buffer[] buffers = new @Nullable Buffer[4];
    private boolean flushDue;
    private final LongSupplier marks;

    /**
     * Creates empty buffers.
     *
     * @param loop whose they are; null for a thread that is no event loop, where nothing is held back
     * @param marks numbers that tell messages apart, none of them given twice by any node
     */
    LoopBuffers(@Nullable RoutingLoop loop, LongSupplier marks) {
        this.marks = marks;
        this.loop = loop;
    }

    /** The message on its way to a peer in this pass: the one just begun if it is the same, or else a new one. */
    OutboundMessage messageFor(int peer, PeerOutbox outbox, ApplicationMessage message, RouteTicket ticket) {
        if (peer >= buffers.length) {
            buffers = Arrays.copyOf(buffers, peer * 2);
        }
        Buffer buffer = buffers[peer];
        if (buffer == null) {
            buffer = new Buffer(outbox);
            buffers[peer] = buffer;
        }
        if (buffer.outbox != outbox) { // that peer is forgotten, and another one has its number
            buffer.outbox.offer(buffer.messages);
            buffer = new Buffer(outbox);
            buffers[peer] = buffer;
        }
        OutboundMessage last = buffer.last;
        if (last != null && last.message() == message && last.ticket() == ticket) {
            return last;
        }
        message.mark(marks.getAsLong());
        OutboundMessage next = new OutboundMessage(message);
        next.hold(ticket);
        buffer.messages.add(next);
        buffer.last = next;
        if (!flushDue && loop != null) {
            flushDue = true;
            loop.executor().execute(flushTask);
        }
        return next;
    }

    /** Called when a message has been added to. */
    void added() {
        if (loop == null) {
            flush();
        }
    }

    private void flush() {
        flushDue = false;
        for (Buffer buffer : buffers) {
            if (buffer != null && !buffer.messages.isEmpty()) {
                List<OutboundMessage> pass = buffer.messages;
                buffer.messages = new ArrayList<>();
                buffer.last = null;
                buffer.outbox.offer(pass);
            }
        }
    }

    private static final class Buffer {

        private final PeerOutbox outbox;
        private List<OutboundMessage> messages = new ArrayList<>();
        private @Nullable OutboundMessage last;

        Buffer(PeerOutbox outbox) {
            this.outbox = outbox;
        }
    }
}
