// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.session.NodeQueues;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Writes the queues of unreachable nodes to the broker's store, in the form of sessions, and reads them. Operations of one task of the
 * cluster's loop are committed together.
 */
@OnClusterLoop
final class ParkStore implements BrokerStore.CommitListener {

    private static final String ANY_FILTER = "#";

    /** No filter has it [MQTT-1.5.4-2]. */
    private static final String SEPARATOR = "\0";

    private static final int[] NO_IDENTIFIERS = {};
    private static final long ENDLESS_SECONDS = 0xFFFF_FFFFL;

    private final NodeQueues queues;
    private final Executor loop;
    private final StoreWriter writer;
    private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();
    private boolean flushDue;

    /** A callback for the commit of all operations up to a position. */
    private record Waiter(long position, Consumer<Boolean> done) {}

    /**
     * Opens a writer.
     *
     * @param queues the queues of nodes in the broker's store
     * @param loop the cluster's loop
     */
    ParkStore(NodeQueues queues, Executor loop) {
        this.queues = queues;
        this.loop = loop;
        this.writer = queues.store().writer(loop, this);
    }

    /** Allocates the number of a new queue. */
    long newQueue() {
        return queues.store().newSession();
    }

    /** The store's clock, which continues over restarts. */
    long clockMillis() {
        return queues.store().clockMillis();
    }

    /**
     * Writes or replaces the header of a queue.
     *
     * @param queue the number of the queue
     * @param nodeId its node
     * @param awaySinceMillis when the node became unreachable, by {@link #clockMillis}
     */
    void putHeader(long queue, String nodeId, long awaySinceMillis) {
        operation()
                .putSession(new StoredSession(
                        queue,
                        NodeQueues.id(nodeId),
                        null,
                        ENDLESS_SECONDS,
                        StoredSession.NEVER,
                        null,
                        awaySinceMillis));
    }

    /** Writes a route of the node of a queue. */
    void putRoute(long queue, String filter) {
        operation().putSubscription(queue, new StoredSubscription(filter, QoS.EXACTLY_ONCE, false, true, 0));
    }

    void removeRoute(long queue, String filter) {
        operation().removeSubscription(queue, filter);
    }

    /**
     * Appends a message.
     *
     * @param queue the number of the queue
     * @param row the number of the message, greater than all before
     * @param parked the message; what its publisher waits for decides how safe it must be
     * @param done called with true when it is stored, with false if it could not be
     */
    void append(long queue, long row, OutboundMessage parked, Consumer<Boolean> done) {
        ApplicationMessage message = parked.message();
        operation()
                .putMessage(
                        queue,
                        new StoredMessage(
                                row,
                                message,
                                recipients(parked),
                                message.qos(),
                                message.retain(),
                                NO_IDENTIFIERS,
                                StoredDelivery.WAITING));
        if (parked.ticket().wantsStable()) {
            writer.requireSync();
        }
        whenStored(done);
    }

    /** The messages of a page. */
    static List<OutboundMessage> messages(StoredPage page) {
        return page.messages().stream().map(ParkStore::message).toList();
    }

    /** A message that was read. */
    static OutboundMessage message(StoredMessage row) {
        String recipients = row.clientFilter();
        List<SharedFilter> groups = recipients.equals(ANY_FILTER)
                ? List.of()
                : Arrays.stream(recipients.split(SEPARATOR))
                        .map(SharedFilter::of)
                        .toList();
        return OutboundMessage.parked(row.message(), groups, row.sequence());
    }

    /** The filter of a row: {@link #ANY_FILTER}, or those of the groups that get the message. */
    private static String recipients(OutboundMessage message) {
        return message.hasGroups()
                ? message.groups().stream().map(SharedFilter::toString).collect(Collectors.joining(SEPARATOR))
                : ANY_FILTER;
    }

    /** Reports the outcome of the last operation: true if it is stored, false if it could not be. */
    void whenStored(Consumer<Boolean> done) {
        waiters.add(new Waiter(writer.position(), done));
    }

    /** Whether a publisher waits until its message is stored. */
    boolean isAwaitedBy(RouteTicket ticket) {
        return queues.isAwaited() && ticket.waitsForStore();
    }

    /** Removes a message. */
    void remove(long queue, long row) {
        operation().removeMessage(queue, row);
    }

    /** Removes a queue with all messages. */
    void removeQueue(long queue, String nodeId) {
        operation().removeSession(queue, NodeQueues.id(nodeId));
    }

    /**
     * Reads messages in their order. Operations before this call are visible.
     *
     * @param queue the number of the queue
     * @param from the first row of interest
     * @param maxMessages maximum number of messages
     * @param maxBytes approximate maximum of their bytes
     * @param reply receives them on the loop
     */
    void read(long queue, long from, int maxMessages, int maxBytes, Consumer<StoredPage> reply) {
        writer.flush();
        queues.store().read(queue, from, maxMessages, maxBytes, loop, reply);
    }

    /** Whether so much waits for the disk that publishers are to be slowed. */
    boolean isOverloaded() {
        return writer.isOverloaded();
    }

    private StoreWriter operation() {
        if (!flushDue) {
            flushDue = true;
            loop.execute(this::flush);
        }
        return writer;
    }

    /** Passes the operations to the store. */
    void flush() {
        flushDue = false;
        writer.flush();
    }

    @Override
    public void committed(long position) {
        settle(position, true);
    }

    @Override
    public void failed(long position, Throwable cause) {
        settle(position, false);
    }

    private void settle(long position, boolean kept) {
        while (!waiters.isEmpty() && waiters.element().position <= position) {
            waiters.remove().done.accept(kept);
        }
    }
}
