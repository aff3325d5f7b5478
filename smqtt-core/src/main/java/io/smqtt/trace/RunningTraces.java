// SPDX-License-Identifier: Apache-2.0
package io.smqtt.trace;

import io.netty.buffer.ByteBuf;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The traces that run at a time, at least one. Code that reports an event first asks {@link #include}, so that an event is created only if a
 * trace wants it. Immutable.
 */
@AnyThread
public final class RunningTraces {

    private static final Logger LOG = LoggerFactory.getLogger(RunningTraces.class);

    private final List<Running> all;
    private final int payloadBytes;

    /** A trace that runs. */
    static final class Running {

        private final TraceSubject subject;
        private final int payloadBytes;
        private final TraceListener listener;
        private volatile boolean ended;

        Running(TraceSubject subject, int payloadBytes, TraceListener listener) {
            this.subject = subject;
            this.payloadBytes = payloadBytes;
            this.listener = listener;
        }

        void end() {
            ended = true;
        }

        private void offer(TraceEvent event) {
            try {
                listener.traced(event);
            } catch (RuntimeException e) { // must not affect the client
                ended = true;
                LOG.error("a trace has ended: its listener has failed", e);
            }
        }
    }

    RunningTraces(List<Running> all) {
        this.all = List.copyOf(all);
        this.payloadBytes =
                all.stream().mapToInt(trace -> trace.payloadBytes).max().orElse(0);
    }

    /**
     * Whether a trace includes an event.
     *
     * @param clientId the client identifier; null if it is not known
     * @param address the address of the client; null if it is not known
     * @param topic the topic of a message; null if the event has none
     * @param filters the topic filters of a SUBSCRIBE or UNSUBSCRIBE; else empty
     * @return true if {@link #report} has a receiver
     */
    public boolean include(
            @Nullable String clientId,
            @Nullable InetSocketAddress address,
            @Nullable TopicName topic,
            List<String> filters) {
        InetAddress host = address == null ? null : address.getAddress();
        for (Running trace : all) {
            if (!trace.ended && trace.subject.includes(clientId, host, topic, filters)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Reports an event to the traces that include it.
     *
     * @param event the event
     * @param filters the topic filters of a SUBSCRIBE or UNSUBSCRIBE; else empty
     */
    public void report(TraceEvent event, List<String> filters) {
        InetSocketAddress from = event.address();
        InetAddress host = from == null ? null : from.getAddress();
        for (Running trace : all) {
            if (!trace.ended && trace.subject.includes(event.clientId(), host, event.topic(), filters)) {
                trace.offer(event);
            }
        }
    }

    /**
     * Copies as much of a payload as a trace wants.
     *
     * @param payload the payload
     * @return its first bytes; empty if all traces hide payloads
     */
    public byte[] beginOf(Payload payload) {
        int length = Math.min(payloadBytes, payload.size());
        byte[] begin = new byte[length];
        if (length == 0) {
            return begin;
        }
        ByteBuf inPlace = payload.retainedSlice();
        if (inPlace == null) {
            payload.asByteBuffer().get(begin);
        } else {
            inPlace.getBytes(inPlace.readerIndex(), begin);
            inPlace.release();
        }
        return begin;
    }

    /**
     * Reports an event of a message and a client.
     *
     * @param kind the kind of the event
     * @param clientId the client; null if it is not known
     * @param client the identity of the client; null if it is not known
     * @param message the message
     * @param details the details, by name
     */
    public void report(
            TraceEvent.Kind kind,
            @Nullable String clientId,
            @Nullable ClientIdentity client,
            ApplicationMessage message,
            TraceDetails details) {
        InetSocketAddress address = client == null ? null : client.remoteAddress();
        if (include(clientId, address, message.topic(), List.of())) {
            report(
                    new TraceEvent(
                            System.currentTimeMillis(),
                            kind,
                            clientId,
                            client == null ? null : client.userName(),
                            address,
                            message.topic(),
                            message.payload().size(),
                            beginOf(message.payload()),
                            details.toMap()),
                    List.of());
        }
    }

    /**
     * Reports a message that the broker has matched with its subscriptions.
     *
     * @param message the message
     * @param matches the number of its deliveries
     */
    public void routed(ApplicationMessage message, int matches) {
        report(
                TraceEvent.Kind.ROUTED,
                message.publisherId(),
                null,
                message,
                new TraceDetails().with("qos", message.qos().level()).with("matches", matches));
    }

    /**
     * Reports a message that did not reach a subscriber.
     *
     * @param clientId the subscriber
     * @param client the identity of the subscriber; null if it is no client, or not known
     * @param message the message
     * @param reason the reason
     */
    public void dropped(
            String clientId, @Nullable ClientIdentity client, ApplicationMessage message, DropReason reason) {
        report(
                TraceEvent.Kind.DROPPED,
                clientId,
                client,
                message,
                new TraceDetails().with("reason", reason).with("publisher", message.publisherId()));
    }
}
