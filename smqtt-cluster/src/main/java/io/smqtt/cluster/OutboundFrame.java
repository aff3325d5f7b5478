// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The content of one frame of a {@link PeerOutbox}: messages that follow each other, all parked before, here or for another node, or none. */
@OnClusterLoop
final class OutboundFrame {

    private final ClusterSettings settings;
    private final List<Outbound> parts = new ArrayList<>();
    private int count;
    private int bytes;

    OutboundFrame(ClusterSettings settings) {
        this.settings = settings;
    }

    /**
     * Puts messages into frames once more, in their order.
     *
     * @param first the number of the first one of interest
     */
    static List<OutboundFrame> from(long first, Iterable<Outbound> messages, ClusterSettings settings) {
        List<OutboundFrame> frames = new ArrayList<>();
        OutboundFrame last = null;
        for (Outbound message : messages) {
            if (message.lastSequence() < first) {
                continue;
            }
            if (last == null || !last.hasRoomFor(message)) {
                last = new OutboundFrame(settings);
                frames.add(last);
            }
            last.add(message);
        }
        return frames;
    }

    /** The number of a message in a park, or 0. */
    static long rowOf(Outbound message) {
        return message instanceof OutboundMessage one ? one.row() : 0;
    }

    /** Whether a message is parked for another node, and sent to the one that serves its sessions. */
    static boolean isInherited(Outbound message) {
        return message instanceof OutboundMessage one && one.isInherited();
    }

    /** Whether a message has waited for its receiver. */
    static boolean hasWaited(Outbound message) {
        return rowOf(message) != 0 || isInherited(message);
    }

    /** Whether a message was refused, and its publisher has not got a positive acknowledgement. */
    static boolean isRefusedToPublisher(Outbound message) {
        return message instanceof OutboundMessage one && one.isRefusedToPublisher();
    }

    /** Whether a message is of use to a later run of its receiver: not for clean sessions alone, which have ended. */
    static boolean isOfUseLater(Outbound message) {
        return message.isParked()
                || (!message.isAtMostOnce() && message instanceof OutboundMessage one && one.hasGroups());
    }

    boolean hasRoomFor(Outbound next) {
        return count == 0
                || (count < settings.rowsPerFrame()
                        && bytes + next.bytes() <= settings.frameBytes()
                        && isParked() == hasWaited(next)
                        && homes().equals(next.homes()));
    }

    /** The nodes whose adopted sessions are to get them. */
    String homes() {
        return parts.get(0).homes();
    }

    boolean isParked() {
        return hasWaited(parts.get(0));
    }

    void add(Outbound next) {
        parts.add(next);
        count += next.count();
        bytes += next.bytes();
    }

    /**
     * The frame with its place in a stream.
     *
     * @param epoch the run of the receiver
     * @param stream the number of the stream
     * @param oldest the oldest message of the stream that is kept; null if there is none before these
     */
    Frame.OutboundBatch inStream(long epoch, int stream, @Nullable Outbound oldest) {
        long first = parts.get(0).sequence();
        long base = oldest == null ? first : oldest.sequence();
        return new Frame.OutboundBatch(epoch, stream, base, first, count, parts, isParked(), homes());
    }

    List<Outbound> parts() {
        return parts;
    }

    int count() {
        return count;
    }

    int bytes() {
        return bytes;
    }
}
