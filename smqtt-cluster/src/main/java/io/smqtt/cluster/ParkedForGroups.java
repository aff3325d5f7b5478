// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.Elsewhere;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/**
 * Messages of QoS 2 that were in flight to members of groups on a node that failed, and are parked: its store has them or not. When that is known to some
 * node, because the node has returned or another one serves its store, a message is given to another member, unless one has it.
 */
@OnClusterLoop
final class ParkedForGroups {

    private static final int MOST_OPEN = 1_000;

    private final ParkedMessages park;
    private final BiConsumer<OutboundMessage, SharedFilter> redispatch;
    private final Executor loop;
    private final List<OutboundMessage> failed = new ArrayList<>();
    private int open;

    /** How often the node was forgotten. */
    private int cleared;

    /**
     * Creates it without messages.
     *
     * @param redispatch gives a message to a member of a group
     */
    ParkedForGroups(ParkedMessages park, BiConsumer<OutboundMessage, SharedFilter> redispatch, Executor loop) {
        this.park = park;
        this.redispatch = redispatch;
        this.loop = loop;
    }

    /**
     * Splits messages off that were sent for members of groups, because the node has failed. Those of QoS 1 go to other members: they may have been
     * delivered, and QoS 1 allows a repetition.
     *
     * @param observer notified of repetitions
     * @return those of QoS 2, to be parked
     */
    List<OutboundMessage> split(Iterable<Outbound> sent, BrokerObserver observer) {
        List<OutboundMessage> parts = new ArrayList<>();
        for (Outbound message : sent) {
            if (message instanceof OutboundMessage one && one.hasGroups()) {
                OutboundMessage part = one.splitGroups();
                if (one.isExactlyOnce()) {
                    part.mayHaveCome();
                    parts.add(part);
                } else {
                    observer.messageElsewhere(Elsewhere.UNCONFIRMED, part.deliveries());
                    observer.deliveriesAdded(DeliverySource.REPEATED, part.deliveries());
                    part.giveTo(redispatch);
                    part.settle(true);
                }
            }
        }
        return parts;
    }

    /** Whether all messages that were taken from the park are safe elsewhere. */
    boolean isIdle() {
        return open == 0 && failed.isEmpty();
    }

    /** Whether no more are to be taken from the park now. */
    boolean isFull() {
        return open + failed.size() >= MOST_OPEN;
    }

    /** Gives those of these messages that are for groups to other members, and returns the others. */
    List<OutboundMessage> give(List<OutboundMessage> taken) {
        if (taken.stream().noneMatch(OutboundMessage::hasGroups)) {
            return taken;
        }
        List<OutboundMessage> rest = new ArrayList<>(taken);
        rest.removeIf(message -> {
            if (message.hasGroups()) {
                give(message);
            }
            return message.hasGroups();
        });
        return rest;
    }

    private void give(OutboundMessage message) {
        open++;
        int before = cleared;
        message.hold(new Inheritance(
                message.message(),
                safe -> {
                    if (before == cleared) {
                        given(message, safe);
                    }
                },
                loop));
        message.giveTo(redispatch);
        message.settle(true);
    }

    private void given(OutboundMessage message, boolean safe) {
        open--;
        if (safe) {
            park.accepted(message);
        } else {
            failed.add(message);
        }
    }

    /** Tries again. Called periodically. */
    void tick() {
        List<OutboundMessage> again = List.copyOf(failed);
        failed.clear();
        again.forEach(this::give);
    }

    /** The node is forgotten, and its park is empty. */
    void clear() {
        failed.clear();
        open = 0;
        cleared++;
    }
}
