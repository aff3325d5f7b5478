// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.NodeQueues;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.spi.StoredPage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages that other nodes had parked, in stores that this node has adopted. Each is parked here, or comes to a session of this node, and is removed
 * from the adopted store when it is safe there. A crash in between leaves it in both: sessions take a message of QoS 2 once. The rest stays for its node
 * when the adoption ends.
 */
@OnClusterLoop
final class AdoptedParks {

    private static final Logger LOG = LoggerFactory.getLogger(AdoptedParks.class);
    private static final int PAGE_MESSAGES = 256;
    private static final int PAGE_BYTES = 256 * 1024;

    private final Function<String, @Nullable Receiver> receivers;
    private final Executor loop;
    private final Map<String, List<Queue>> byHome = new HashMap<>();

    /** The park of this node for another one, or the sessions of this node. */
    interface Receiver {

        /**
         * Takes a message that another node had parked, behind those before it.
         *
         * @param message the message
         * @param taken receives on the cluster's loop, once, maybe at once, whether it is safe here
         */
        void take(OutboundMessage message, Consumer<Boolean> taken);
    }

    /**
     * Creates it without queues.
     *
     * @param receivers the receiver of messages for a node; null if there is none now
     * @param loop the cluster's loop
     */
    AdoptedParks(Function<String, @Nullable Receiver> receivers, Executor loop) {
        this.receivers = receivers;
        this.loop = loop;
    }

    /**
     * This node has adopted the store of another one.
     *
     * @param home the other node
     * @param parked the queues in its store
     */
    void adopted(String home, NodeQueues parked) {
        List<NodeQueues.Found> found = parked.take();
        ended(home);
        if (found.stream().allMatch(queue -> queue.waiting().messages() == 0)) {
            return;
        }
        ParkStore store = new ParkStore(parked, loop);
        List<Queue> queues = new ArrayList<>();
        for (NodeQueues.Found queue : found) {
            if (queue.waiting().messages() > 0) {
                queues.add(new Queue(home, queue, store));
            }
        }
        byHome.put(home, queues);
        queues.forEach(Queue::run);
    }

    /** This node is about to forget the store of another one: nothing more is moved. */
    void ended(String home) {
        List<Queue> queues = byHome.remove(home);
        if (queues != null) {
            queues.forEach(Queue::end);
        }
    }

    /** Whether a node had parked messages for another one that are not moved yet. */
    boolean has(String home, String nodeId) {
        List<Queue> queues = byHome.get(home);
        return queues != null && queues.stream().anyMatch(queue -> queue.isFor(nodeId));
    }

    /** Tries again to move what could not be moved. Called periodically. */
    void tick() {
        for (List<Queue> queues : byHome.values()) {
            queues.forEach(Queue::run);
            queues.removeIf(Queue::isOver);
        }
        byHome.values().removeIf(List::isEmpty);
    }

    /** The messages for one node in one adopted store. */
    private final class Queue {

        private final String home;
        private final String nodeId;
        private final long number;
        private final ParkStore store;
        private long from;
        private int pageMessages = PAGE_MESSAGES;
        private long firstFailed;
        private int open;
        private int moved;
        private boolean over;

        Queue(String home, NodeQueues.Found found, ParkStore store) {
            this.home = home;
            this.nodeId = found.nodeId();
            this.number = found.header().number();
            this.from = found.waiting().firstSequence();
            this.store = store;
        }

        boolean isFor(String node) {
            return !over && nodeId.equals(node);
        }

        boolean isOver() {
            return over;
        }

        void end() {
            over = true;
            store.flush();
        }

        /** Reads the next page, unless one is being read or moved. */
        void run() {
            if (!over && open == 0) {
                open = 1;
                store.read(number, from, pageMessages, PAGE_BYTES, this::read);
            }
        }

        private void read(StoredPage page) {
            open = 0;
            Throwable failure = page.failure();
            if (over) {
                return;
            }
            if (failure instanceof StoreDamagedException damage && damage.sequence() >= from) {
                skip(damage);
            } else if (failure == null && page.messages().isEmpty()) {
                over = true;
                LOG.info("moved {} messages here that node {} had parked for node {}", moved, home, nodeId);
            } else if (failure == null) {
                move(ParkStore.messages(page));
            } // otherwise with the next tick
        }

        /** A damaged message stays for its node. */
        private void skip(StoreDamagedException damage) {
            if (damage.sequence() > from) { // those before it first
                pageMessages = (int) Math.min(pageMessages, damage.sequence() - from);
            } else {
                LOG.warn(
                        "message {} that node {} had parked for node {} is damaged, and stays in its store: {}",
                        damage.sequence(),
                        home,
                        nodeId,
                        damage.getMessage());
                pageMessages = PAGE_MESSAGES;
                from = damage.sequence() + 1;
            }
            run();
        }

        private void move(List<OutboundMessage> page) {
            Receiver receiver = receivers.apply(nodeId);
            if (receiver == null) {
                return; // again with the next tick
            }
            firstFailed = Long.MAX_VALUE;
            open = page.size();
            from = page.get(page.size() - 1).row() + 1;
            for (OutboundMessage message : page) {
                long row = message.row();
                receiver.take(message, taken -> settled(row, taken));
            }
        }

        private void settled(long row, boolean taken) {
            open--;
            if (over) {
                return;
            }
            if (taken) {
                store.remove(number, row);
                moved++;
            } else {
                firstFailed = Math.min(firstFailed, row);
            }
            if (open == 0 && firstFailed == Long.MAX_VALUE) {
                loop.execute(this::run);
            } else if (open == 0) {
                from = firstFailed; // with the next tick; later ones that were taken are not there any more
            }
        }
    }
}
