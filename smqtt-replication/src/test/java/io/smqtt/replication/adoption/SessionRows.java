// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The rows of a session in a group. */
final class SessionRows {

    /**
     * A message in the queue.
     *
     * @param packet its packet identifier, which grows and is not used again
     * @param released whether PUBREC was received
     */
    record Queued(long packet, Message message, boolean released) {}

    private final String client;
    private final List<Queued> queue = new ArrayList<>();
    private final SortedMap<Integer, Long> received = new TreeMap<>();
    private final SortedMap<String, Long> taken = new TreeMap<>();
    private long nextPacket = 1;
    private long nextSequence = 1;
    private long epoch;
    private long sealedBy;

    /** Creates a session of a claim, as a copy of another one or without content. */
    SessionRows(String client, long epoch, @Nullable SessionRows from, boolean withTaken) {
        this.client = client;
        this.epoch = epoch;
        if (from != null) {
            queue.addAll(from.queue);
            received.putAll(from.received);
            if (withTaken) {
                taken.putAll(from.taken);
            }
            nextPacket = from.nextPacket;
            nextSequence = from.nextSequence;
        }
    }

    String client() {
        return client;
    }

    long epoch() {
        return epoch;
    }

    /** The epoch of the claim that has sealed it, or 0. */
    long sealedBy() {
        return sealedBy;
    }

    boolean isSealed() {
        return sealedBy != 0;
    }

    void seal(long claim) {
        sealedBy = claim;
    }

    /** The messages that are not acknowledged, in their order. */
    List<Queued> queue() {
        return queue;
    }

    /** The latest claim that it knows. */
    long latestEpoch() {
        return Math.max(epoch, sealedBy);
    }

    Outcome apply(Change change) {
        if (change instanceof Change.Enqueue enqueue) {
            enqueue(enqueue);
        } else if (change instanceof Change.Received pubrec) {
            queue.replaceAll(queued ->
                    queued.packet() == pubrec.packet() ? new Queued(queued.packet(), queued.message(), true) : queued);
        } else if (change instanceof Change.Remove removal) {
            queue.removeIf(queued -> queued.packet() == removal.packet());
        } else if (change instanceof Change.Receive publish) {
            return Outcome.number(received.computeIfAbsent(publish.packet(), packet -> nextSequence++));
        } else if (change instanceof Change.Release release) {
            received.remove(release.packet());
        }
        return Outcome.ACCEPTED;
    }

    private void enqueue(Change.Enqueue enqueue) {
        Message message = enqueue.message();
        if (message.qos() == 2) {
            if (enqueue.sequence() <= taken.getOrDefault(message.publisher(), 0L)) {
                return;
            }
            taken.put(message.publisher(), enqueue.sequence());
        }
        queue.add(new Queued(nextPacket++, message, false));
    }

    @Override
    public String toString() {
        return client + " epoch " + epoch + " sealed by " + sealedBy + " next " + nextPacket + "/" + nextSequence
                + " queue " + queue + " received " + received + " taken " + taken;
    }
}
