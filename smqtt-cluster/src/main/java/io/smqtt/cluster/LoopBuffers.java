// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.ByteWriter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Collects the messages of one iteration of an event loop for peers. At the end of the iteration all messages to a peer are queued by one
 * offer. A message that reaches a peer in several ways is sent once.
 */
@OnEventLoop
final class LoopBuffers {

    private static final int MAXIMUM_RUN_MESSAGES = 256;
    private static final int MAXIMUM_RUN_BYTES = 16 * 1024;

    private final @Nullable Executor loop;
    private final Runnable flushTask = this::flush;
    private @Nullable Buffer[] buffers = new @Nullable Buffer[4];
    private boolean flushDue;

    /**
     * Creates empty buffers.
     *
     * @param loop their event loop; null for another thread, where messages are queued at once
     */
    LoopBuffers(@Nullable Executor loop) {
        this.loop = loop;
    }

    /**
     * Adds a message for the subscribers of a peer that are not in a shared group.
     *
     * @param peer the peer's number
     * @param outbox the queue for its messages
     * @param message the message
     * @param ticket the publisher's ticket
     * @param durable whether one of them outlives its connection
     */
    void toAll(int peer, PeerOutbox outbox, ApplicationMessage message, RouteTicket ticket, boolean durable) {
        Buffer buffer = bufferOf(peer, outbox);
        if (OutboundRun.takes(message) && ticket == RouteTicket.NONE && !buffer.isLast(message, ticket)) {
            buffer.addPlain(message);
        } else {
            messageFor(buffer, message, ticket).toAll(durable);
        }
        flushLater();
    }

    /**
     * Adds a message for one member of a group on a peer.
     *
     * @param peer the peer's number
     * @param outbox the queue for its messages
     * @param message the message
     * @param ticket the publisher's ticket
     * @param group the group
     */
    void toGroup(int peer, PeerOutbox outbox, ApplicationMessage message, RouteTicket ticket, SharedFilter group) {
        messageFor(bufferOf(peer, outbox), message, ticket).addGroup(group);
        flushLater();
    }

    private Buffer bufferOf(int peer, PeerOutbox outbox) {
        if (peer >= buffers.length) {
            buffers = Arrays.copyOf(buffers, peer * 2);
        }
        Buffer buffer = buffers[peer];
        if (buffer != null && buffer.outbox != outbox) { // that peer was removed, and another one has its number
            buffer.flush();
            buffer = null;
        }
        if (buffer == null) {
            buffer = new Buffer(outbox);
            buffers[peer] = buffer;
        }
        return buffer;
    }

    /** Returns the pending message to a peer in this iteration: the current one if it is the same, otherwise a new one. */
    private OutboundMessage messageFor(Buffer buffer, ApplicationMessage message, RouteTicket ticket) {
        OutboundMessage last = buffer.last;
        if (last != null && buffer.isLast(message, ticket)) {
            return last;
        }
        OutboundMessage next = new OutboundMessage(message);
        next.hold(ticket);
        buffer.add(next);
        return next;
    }

    private void flushLater() {
        if (loop == null) {
            flush();
        } else if (!flushDue) {
            flushDue = true;
            loop.execute(flushTask);
        }
    }

    /** Messages for unreachable peers come first: when one for the server of their sessions is queued, they are queued, too, see {@link PassedOn}. */
    private void flush() {
        flushDue = false;
        for (Buffer buffer : buffers) {
            if (buffer != null && !buffer.outbox.isReachable()) {
                buffer.flush();
            }
        }
        for (Buffer buffer : buffers) {
            if (buffer != null) {
                buffer.flush();
            }
        }
    }

    /** Messages for one peer, in their order. */
    private static final class Buffer {

        private final PeerOutbox outbox;
        private List<Outbound> messages = new ArrayList<>();
        private @Nullable OutboundMessage last;

        /** The current run; its array is reused. */
        private final ByteWriter run = new ByteWriter(1024);

        private int runMessages;
        private int runBytes;
        private long runPayloadBytes;

        /** Added to the run when it is known that no group gets it, too. */
        private @Nullable ApplicationMessage plain;

        Buffer(PeerOutbox outbox) {
            this.outbox = outbox;
        }

        /** Whether this is the current message, and not a plain one. */
        boolean isLast(ApplicationMessage message, RouteTicket ticket) {
            return last != null && last.message() == message && last.ticket() == ticket;
        }

        void addPlain(ApplicationMessage message) {
            if (message != plain) {
                writePlain();
                plain = message;
                last = null;
            }
        }

        void add(OutboundMessage message) {
            if (message.message() == plain) {
                plain = null;
                message.toAll(false); // QoS 0
            }
            writePlain();
            endRun();
            last = message;
            messages.add(message);
        }

        private void writePlain() {
            ApplicationMessage next = plain;
            if (next == null) {
                return;
            }
            plain = null;
            if (runMessages >= MAXIMUM_RUN_MESSAGES || runBytes >= MAXIMUM_RUN_BYTES) {
                endRun();
            }
            run.truncate(runBytes); // a failed write may have left bytes
            ForwardedMessage.writeBlock(run, next, true, List.of(), next.acceptedAtNanos());
            runBytes = run.size();
            runMessages++;
            runPayloadBytes += next.payload().size();
        }

        private void endRun() {
            if (runMessages > 0) {
                run.truncate(runBytes);
                messages.add(new OutboundRun(run.toByteArray(), runMessages, runPayloadBytes));
                runMessages = 0;
                runBytes = 0;
                runPayloadBytes = 0;
            }
        }

        void flush() {
            writePlain();
            endRun();
            last = null;
            if (!messages.isEmpty()) {
                List<Outbound> pass = messages;
                messages = new ArrayList<>();
                outbox.offer(pass);
            }
        }
    }
}
