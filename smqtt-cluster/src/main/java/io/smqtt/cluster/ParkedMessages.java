// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.NodeQueues;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages that are kept on this node for one other node: in the store, if there is one, otherwise in memory. A message has a number,
 * its row, and is first unread, then taken for sending, and removed when the other node has accepted it. Of unread messages in the store
 * nothing is in memory. Unread messages are bounded by {@link ParkLimits}.
 */
@OnClusterLoop
final class ParkedMessages {

    private static final int PAGE_MESSAGES = 1_000;
    private static final int PAGE_BYTES = 512 * 1024;

    private final String nodeId;
    private final ParkLimits limits;
    private final @Nullable ParkStore store;
    private final BrokerObserver observer;
    private final LongSupplier nanoTime;
    private final ParkLog report;

    /** The unread messages if there is no store. */
    private final ArrayDeque<OutboundMessage> memory = new ArrayDeque<>();

    /** The number of the queue in the store, or 0. */
    private long queue;

    /** The routes in the store. */
    private Set<String> routes = Set.of();

    private long awaySinceMillis;
    private long lastRow;

    /** Rows from this one on are unread. */
    private long unreadFrom = 1;

    private int unread;
    private long unreadBytes;
    private int taken;
    private boolean reading;
    private int pageMessages = PAGE_MESSAGES;

    /**
     * Creates an empty park.
     *
     * @param nodeId the other node
     * @param limits the limits
     * @param store null to keep messages in memory
     * @param observer notified of dropped messages
     * @param nanoTime the broker's monotonic clock
     * @param report logs dropped messages
     */
    ParkedMessages(
            String nodeId,
            ParkLimits limits,
            @Nullable ParkStore store,
            BrokerObserver observer,
            LongSupplier nanoTime,
            ParkLog report) {
        this.nodeId = nodeId;
        this.limits = limits;
        this.store = store;
        this.observer = observer;
        this.nanoTime = nanoTime;
        this.report = report;
    }

    /** Takes over what was found in the store. */
    void recovered(NodeQueues.Found found) {
        queue = found.header().number();
        routes = Set.copyOf(found.filters());
        awaySinceMillis = found.header().willAtMillis();
        lastRow = found.waiting().nextSequence() - 1;
        unreadFrom = found.waiting().firstSequence();
        unread = found.waiting().messages();
        unreadBytes = found.waiting().bytes();
    }

    /** The number of messages. */
    int size() {
        return unread + taken;
    }

    /** The bytes of those that are not in memory, or that would not be with a store. */
    long bytes() {
        return unreadBytes;
    }

    /** Whether the messages survive this process. */
    boolean isStored() {
        return store != null;
    }

    /** Whether messages must be read before newer ones may be sent. */
    boolean hasUnread() {
        return unread > 0;
    }

    /** The number of the last message, read or not. */
    long lastRow() {
        return lastRow;
    }

    /**
     * The node has become unreachable. Its routes are stored, so that messages are parked for it after a restart of this node, too.
     *
     * @param filters the filters of its durable sessions
     */
    void away(Set<String> filters) {
        if (store == null || (queue == 0 && filters.isEmpty())) {
            return;
        }
        awaySinceMillis = store.clockMillis();
        if (queue != 0) {
            store.putHeader(queue, nodeId, awaySinceMillis);
        }
        long of = queue(store);
        for (String filter : filters) {
            if (!routes.contains(filter)) {
                store.putRoute(of, filter);
            }
        }
        for (String filter : routes) {
            if (!filters.contains(filter)) {
                store.removeRoute(of, filter);
            }
        }
        routes = filters;
    }

    /** Appends a message, and settles it when it is safe, or cannot be kept. */
    void add(OutboundMessage message) {
        int bytes = message.bytes();
        if (unreadBytes + bytes > limits.maxBytes() && !makeRoom(bytes)) {
            dropped(DropReason.PEER_QUEUE, 1);
            message.settle(false);
            return;
        }
        unread++;
        unreadBytes += bytes;
        message.parkedAs(++lastRow);
        if (store == null) {
            memory.add(message);
            message.settle(true);
        } else {
            write(store, message, () -> {
                unread--;
                unreadBytes -= bytes;
                observer.messageDropped(DropReason.PEER_QUEUE, 1);
            });
        }
    }

    /** Stores a message that was sent, and stays in memory until the node is known to have it. */
    void keep(OutboundMessage message) {
        taken++;
        message.parkedAs(++lastRow);
        if (unread == 0) {
            unreadFrom = lastRow + 1;
        }
        if (store == null) {
            message.settle(true);
        } else {
            write(store, message, () -> {});
        }
    }

    private void write(ParkStore to, OutboundMessage message, Runnable lost) {
        boolean awaited = to.isAwaitedBy(message.ticket());
        long ofQueue = queue(to);
        to.append(ofQueue, message.row(), message.message(), message.ticket(), kept -> {
            if (!kept && ofQueue == queue) {
                lost.run();
            }
            if (awaited) {
                message.settle(kept);
            }
        });
        if (!awaited) {
            message.settle(true);
        }
    }

    private long queue(ParkStore to) {
        if (queue == 0) {
            queue = to.newQueue();
            to.putHeader(queue, nodeId, awaySinceMillis);
        }
        return queue;
    }

    /**
     * Takes some of the oldest messages for sending. Does nothing while messages are being read.
     *
     * @param reply receives them in their order, at once or later
     */
    void take(Consumer<List<OutboundMessage>> reply) {
        if (unread == 0 || reading) {
            return;
        }
        if (store == null) {
            reply.accept(takeFromMemory());
        } else {
            read(store, page -> reply.accept(taken(store, page)));
        }
    }

    private List<OutboundMessage> takeFromMemory() {
        List<OutboundMessage> page = new ArrayList<>();
        int bytes = 0;
        for (OutboundMessage next = memory.poll(); next != null; next = memory.poll()) {
            readOne(next.row(), next.bytes());
            if (next.message().isExpired(nanoTime.getAsLong())) {
                observer.messageDropped(DropReason.EXPIRED, 1);
            } else {
                taken++;
                page.add(next);
                bytes += next.bytes();
                if (page.size() >= PAGE_MESSAGES || bytes >= PAGE_BYTES) {
                    break;
                }
            }
        }
        return page;
    }

    private void readOne(long row, int bytes) {
        unreadFrom = row + 1;
        unread--;
        unreadBytes = unread == 0 ? 0 : Math.max(0, unreadBytes - bytes);
    }

    private List<OutboundMessage> taken(ParkStore from, List<StoredMessage> page) {
        List<OutboundMessage> messages = new ArrayList<>(page.size());
        int expired = 0;
        long now = nanoTime.getAsLong();
        for (StoredMessage row : page) {
            ApplicationMessage message = row.message();
            readOne(row.sequence(), message.footprintBytes());
            if (message.isExpired(now)) {
                from.remove(queue, row.sequence());
                expired++;
            } else {
                taken++;
                messages.add(OutboundMessage.parked(message, row.sequence()));
            }
        }
        if (expired > 0) {
            observer.messageDropped(DropReason.EXPIRED, expired);
        }
        return messages;
    }

    /** Reads the next page; it is ignored if other messages are the next ones meanwhile. */
    private void read(ParkStore from, Consumer<List<StoredMessage>> reply) {
        reading = true;
        long first = unreadFrom;
        long ofQueue = queue;
        from.read(queue, first, pageMessages, PAGE_BYTES, page -> {
            reading = false;
            if (first != unreadFrom || ofQueue != queue || unread == 0) {
                return;
            }
            Throwable failure = page.failure();
            if (failure != null) {
                readFailed(from, failure);
            } else if (page.messages().isEmpty()) {
                dropped(DropReason.FAILED, unread);
                unread = 0;
                unreadBytes = 0;
            } else {
                pageMessages = PAGE_MESSAGES;
                reply.accept(upToLast(page));
            }
        });
    }

    /** The messages of a page that are counted as unread. */
    private List<StoredMessage> upToLast(StoredPage page) {
        List<StoredMessage> all = page.messages();
        return all.size() <= unread ? all : all.subList(0, unread);
    }

    /** A damaged row is skipped when it is known which one it is; after another failure the page is read again later. */
    private void readFailed(ParkStore from, Throwable failure) {
        report.readFailed(nodeId, failure);
        if (!(failure instanceof StoreDamagedException)) {
            return;
        }
        if (pageMessages > 1) {
            pageMessages = 1;
        } else {
            from.remove(queue, unreadFrom);
            readOne(unreadFrom, 0);
            pageMessages = PAGE_MESSAGES;
            dropped(DropReason.FAILED, 1);
        }
    }

    /** Returns messages that were taken, but not sent. They are the first unread ones again. */
    void giveBack(List<OutboundMessage> messages) {
        for (int i = messages.size() - 1; i >= 0; i--) {
            OutboundMessage message = messages.get(i);
            unreadFrom = message.row();
            unread++;
            unreadBytes += message.bytes();
            taken--;
            if (store == null) {
                memory.addFirst(message);
            }
        }
    }

    /** The node has accepted a message. */
    void accepted(OutboundMessage message) {
        taken--;
        if (store != null) {
            store.remove(queue, message.row());
        }
    }

    /** The node could not store a message: it is parked again, behind all others. */
    void refused(OutboundMessage message) {
        report.refused(nodeId);
        accepted(message);
        OutboundMessage again = new OutboundMessage(message.message());
        again.toAll(true);
        add(again);
    }

    /** The node is reachable, and may have everything: then nothing is stored for it. */
    void discardIfEmpty() {
        if (queue != 0 && size() == 0 && !reading && store != null) {
            store.removeQueue(queue, nodeId);
            queue = 0;
            routes = Set.of();
        }
    }

    /**
     * The node is forgotten: drops everything.
     *
     * @return the number of messages
     */
    int forget() {
        int dropped = size();
        if (queue != 0 && store != null) {
            store.removeQueue(queue, nodeId);
        }
        queue = 0;
        routes = Set.of();
        memory.clear();
        unread = 0;
        unreadBytes = 0;
        taken = 0;
        dropped(DropReason.PEER_GONE, dropped);
        return dropped;
    }

    /** Drops the oldest unread messages, so that one more fits; false if it must be refused. */
    private boolean makeRoom(int bytes) {
        if (limits.refuses() || bytes > limits.maxBytes()) {
            return false;
        }
        if (store != null) {
            trim(store);
            return true;
        }
        int count = 0;
        while (unreadBytes + bytes > limits.maxBytes()) {
            OutboundMessage oldest = memory.remove();
            readOne(oldest.row(), oldest.bytes());
            count++;
        }
        dropped(DropReason.PEER_QUEUE, count);
        return true;
    }

    /** Drops stored messages, page by page, until there is room for about another page. More may be added meanwhile. */
    private void trim(ParkStore from) {
        if (reading) {
            return;
        }
        long target = limits.maxBytes() - Math.min(PAGE_BYTES, limits.maxBytes() / 8);
        read(from, page -> {
            int count = 0;
            for (StoredMessage row : page) {
                if (unreadBytes <= target) {
                    break;
                }
                readOne(row.sequence(), row.message().footprintBytes());
                from.remove(queue, row.sequence());
                count++;
            }
            dropped(DropReason.PEER_QUEUE, count);
            if (unreadBytes > limits.maxBytes()) {
                trim(from);
            }
        });
    }

    private void dropped(DropReason reason, int count) {
        if (count > 0) {
            observer.messageDropped(reason, count);
            report.dropped(nodeId, reason, count, size());
        }
    }
}
