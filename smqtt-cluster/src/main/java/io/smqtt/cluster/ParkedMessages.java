// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.NodeQueues;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.thread.AnyThread;
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

    /** The bytes above the limit that may be there while the oldest messages are read, to be dropped. */
    private static final int TRIMMED_BYTES = 8 * PAGE_BYTES;

    private final String nodeId;
    private final ParkLimits limits;
    private final @Nullable ParkStore store;
    private final PeerDrops drops;
    private final LongSupplier nanoTime;
    private final ParkLog report;

    /** The unread messages if there is no store. */
    private final ArrayDeque<OutboundMessage> memory = new ArrayDeque<>();

    /** Messages behind the unread ones, for which there is no room. */
    private final HeldBack held = new HeldBack();

    /** Messages that were sent, and could not be stored. */
    private final HeldBack unstored = new HeldBack();

    /** The number of the queue in the store, or 0. */
    private long queue;

    /** The routes in the store. */
    private Set<String> routes = Set.of();

    private boolean headerStored;

    /** Whether the routes could not be stored. */
    private boolean routesLost;

    private long awaySinceMillis;
    private long lastRow;

    /** The last row that was added to the unread ones. */
    private long lastUnread;

    /** Rows from this one on are unread. */
    private long unreadFrom = 1;

    private int unread;
    private long unreadBytes;
    private int taken;
    private boolean reading;

    /** Whether the last message could not be stored. */
    private boolean failing;

    private int pageMessages = PAGE_MESSAGES;

    /**
     * Creates an empty park.
     *
     * @param store null to keep messages in memory
     */
    ParkedMessages(
            String nodeId,
            ParkLimits limits,
            @Nullable ParkStore store,
            PeerDrops drops,
            LongSupplier nanoTime,
            ParkLog report) {
        this.nodeId = nodeId;
        this.limits = limits;
        this.store = store;
        this.drops = drops;
        this.nanoTime = nanoTime;
        this.report = report;
    }

    /** Takes over what was found in the store. */
    void recovered(NodeQueues.Found found) {
        queue = found.header().number();
        routes = Set.copyOf(found.filters());
        headerStored = true;
        awaySinceMillis = found.header().willAtMillis();
        lastRow = found.waiting().nextSequence() - 1;
        unreadFrom = found.waiting().firstSequence();
        unread = found.waiting().messages();
        unreadBytes = found.waiting().bytes();
    }

    /** Counts the messages that are dropped for the node, parked or not. */
    @AnyThread
    PeerDrops drops() {
        return drops;
    }

    /** The number of messages. */
    int size() {
        return unread + taken + held.size();
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
        return unread > 0 || !held.isEmpty();
    }

    /** Whether a message with this number or an earlier one was not taken yet. */
    boolean hasUnreadUpTo(long row) {
        return (unread > 0 && unreadFrom <= row) || held.hasUpTo(row);
    }

    /** The number of the last message, read or not. */
    long lastRow() {
        return lastRow;
    }

    /** The node has become unreachable. The filters of its durable sessions are stored: messages are parked for it after a restart of this node, too. */
    void away(Set<String> filters) {
        if (store == null || (queue == 0 && filters.isEmpty())) {
            return;
        }
        awaySinceMillis = store.clockMillis();
        if (queue != 0) {
            putHeader(store);
        }
        long of = queue(store);
        for (String filter : routes) {
            if (!filters.contains(filter)) {
                store.removeRoute(of, filter);
            }
        }
        Set<String> known = routes;
        routes = filters;
        putRoutes(store, known);
    }

    private void putHeader(ParkStore to) {
        long of = queue;
        to.putHeader(of, nodeId, awaySinceMillis);
        to.whenStored(kept -> {
            if (of == queue) {
                headerStored = kept;
                failing = !kept;
            }
        });
    }

    /** Stores the routes, without those that are stored. */
    private void putRoutes(ParkStore to, Set<String> stored) {
        long of = queue;
        boolean changed = false;
        for (String filter : routes) {
            if (!stored.contains(filter)) {
                to.putRoute(of, filter);
                changed = true;
            }
        }
        if (changed) {
            to.whenStored(kept -> {
                if (of == queue && !kept) {
                    routesLost = true;
                    failing = true;
                }
            });
        }
    }

    /** Appends a message, and settles it when it is safe, or cannot be kept. If its publisher cannot be refused, it waits for room. */
    void add(OutboundMessage message) {
        message.parkedAs(lastRow + 1);
        if (held.isEmpty() && hasRoomFor(message)) {
            lastRow++;
            append(message);
        } else if (message.bytes() <= limits.maxBytes() && held.takes(message)) {
            lastRow++;
            report.heldBack(nodeId, held.size());
        } else {
            dropped(DropReason.PEER_QUEUE, 1);
            message.settle(
                    message.bytes() > limits.maxBytes() && message.ticket().waitsForRoom());
        }
    }

    private boolean hasRoomFor(OutboundMessage message) {
        return unreadBytes + message.bytes() <= limits.maxBytes() || makeRoom(message.bytes());
    }

    private void append(OutboundMessage message) {
        unread++;
        unreadBytes += message.bytes();
        lastUnread = Math.max(lastUnread, message.row());
        if (store == null) {
            memory.add(message);
            message.settle(true);
        } else {
            write(store, message, () -> lostUnread(message));
        }
    }

    /** An unread message is not in the store: it waits for that, as if there were no room. */
    private void lostUnread(OutboundMessage message) {
        unread--;
        unreadBytes -= message.bytes();
        if (!held.takes(message)) {
            drops.add(DropReason.PEER_QUEUE, 1);
            message.settle(false);
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
            writeSent(store, message);
        }
    }

    private void writeSent(ParkStore to, OutboundMessage message) {
        write(to, message, () -> {
            if (message.row() >= unreadFrom) { // it was given back
                lostUnread(message);
            } else if (!unstored.takes(message)) {
                message.settle(false);
            }
        });
    }

    /**
     * Writes a message to the store.
     *
     * @param lost called if that fails; not for a node that was forgotten meanwhile
     */
    private void write(ParkStore to, OutboundMessage message, Runnable lost) {
        boolean awaited = to.isAwaitedBy(message.ticket());
        long ofQueue = queue(to);
        if (!headerStored) { // in the same commit: without it the message is not found again
            putHeader(to);
        }
        to.append(ofQueue, message.row(), message, kept -> {
            failing = !kept;
            if (!kept && ofQueue == queue) {
                lost.run();
            } else if (awaited) {
                message.settle(true);
            }
        });
        if (!awaited) {
            message.settle(true);
        }
    }

    /** Tries again to keep the messages whose publishers wait. Called periodically. */
    void retry() {
        int gone = held.refuseGone();
        if (gone > 0) {
            dropped(DropReason.PEER_QUEUE, gone);
        }
        unstored.refuseGone();
        if (store != null && routesLost && failing) {
            putHeader(store); // a small attempt
        } else if (store != null && routesLost) {
            routesLost = false;
            putRoutes(store, Set.of());
        }
        int attempts = failing ? 1 : HeldBack.MAXIMUM_MESSAGES;
        OutboundMessage sent = unstored.first();
        for (; store != null && sent != null && attempts > 0; sent = unstored.first(), attempts--) {
            unstored.remove(sent);
            writeSent(store, sent);
        }
        OutboundMessage next = held.first();
        if (next != null && next.row() < unreadFrom) { // later rows were read
            lastRow = held.renumber(lastRow);
            next = held.first();
        }
        while (next != null && attempts > 0 && mayFollow(next) && hasRoomFor(next)) {
            held.remove(next);
            append(next);
            next = held.first();
            attempts--;
        }
    }

    /** Whether a message may be written with its row: not while later ones are read. */
    private boolean mayFollow(OutboundMessage message) {
        return !reading || message.row() > lastUnread;
    }

    /**
     * Ends the wait of publishers: the node is reachable, and nothing is before their messages any more.
     *
     * @return the messages, which are no longer parked
     */
    List<OutboundMessage> takeHeldBack() {
        if (unread > 0 || held.isEmpty()) {
            return List.of();
        }
        List<OutboundMessage> all = held.removeAll();
        all.forEach(message -> message.parkedAs(0));
        return all;
    }

    private long queue(ParkStore to) {
        if (queue == 0) {
            queue = to.newQueue();
            awaySinceMillis = awaySinceMillis == 0 ? to.clockMillis() : awaySinceMillis;
            headerStored = false;
            routesLost = false;
            putHeader(to);
        }
        return queue;
    }

    /** Takes some of the oldest messages for sending, at once or later, in their order. Does nothing while messages are being read. */
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

    /** Reads unread messages from a row on, which stay unread. The reply is null if they cannot be read now. */
    void look(long from, Consumer<@Nullable List<OutboundMessage>> reply) {
        if (store == null || unread == 0) {
            reply.accept(memory.stream()
                    .filter(message -> message.row() >= from)
                    .limit(PAGE_MESSAGES)
                    .toList());
        } else {
            store.read(
                    queue,
                    Math.max(from, unreadFrom),
                    PAGE_MESSAGES,
                    PAGE_BYTES,
                    page -> reply.accept(page.failure() == null ? ParkStore.messages(page) : null));
        }
    }

    private List<OutboundMessage> takeFromMemory() {
        List<OutboundMessage> page = new ArrayList<>();
        int bytes = 0;
        for (OutboundMessage next = memory.poll(); next != null; next = memory.poll()) {
            readOne(next.row(), next.bytes());
            if (next.message().isExpired(nanoTime.getAsLong())) {
                drops.add(DropReason.EXPIRED, 1);
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
                messages.add(ParkStore.message(row));
            }
        }
        if (expired > 0) {
            drops.add(DropReason.EXPIRED, expired);
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

    /** A damaged row is skipped; after another failure the page is read again later. */
    private void readFailed(ParkStore from, Throwable failure) {
        if (!(failure instanceof StoreDamagedException damage)) {
            report.readFailed(nodeId, failure);
        } else if (pageMessages > 1) { // those before it are read first
            long before = damage.sequence() - unreadFrom;
            pageMessages = (int) Math.max(1, Math.min(pageMessages / 2, before));
        } else {
            pageMessages = PAGE_MESSAGES;
            skip(from, damage);
        }
    }

    private void skip(ParkStore from, StoreDamagedException damage) {
        long row = Math.max(unreadFrom, damage.sequence());
        report.damaged(nodeId, queue, row, damage);
        from.remove(queue, row);
        if (damage.sequence() == 0) { // perhaps there is no such row: what is missing in the end is counted then
            unreadFrom = row + 1;
        } else {
            readOne(row, 0);
            dropped(DropReason.FAILED, 1);
        }
    }

    /** Whether nothing is taken but so many messages: these may be given back. */
    boolean hasTaken(int messages) {
        return taken == messages;
    }

    /** Returns messages that were taken, but not sent. They are the first unread ones again; what could not be stored yet waits for that. */
    void giveBack(List<OutboundMessage> messages) {
        for (int i = messages.size() - 1; i >= 0; i--) {
            OutboundMessage message = messages.get(i);
            unreadFrom = message.row();
            unread++;
            unreadBytes += message.bytes();
            taken--;
            if (store == null) {
                memory.addFirst(message);
            } else if (unstored.remove(message)) {
                lostUnread(message);
            }
        }
    }

    /** The node has accepted a message. */
    void accepted(OutboundMessage message) {
        taken--;
        unstored.remove(message);
        if (store != null) {
            store.remove(queue, message.row());
        }
    }

    /** The node could not store a message, which is sent again. */
    void refused() {
        report.refused(nodeId);
    }

    /** A message that the node could not store is parked again, behind all others. */
    void addAgain(OutboundMessage message) {
        accepted(message);
        OutboundMessage again = message.parkedAgain(++lastRow);
        hasRoomFor(again); // drops the oldest, if that is the rule; its publisher has its acknowledgement
        append(again);
    }

    /** The node is reachable, and may have everything: then nothing is stored for it. */
    void discardIfEmpty() {
        if (queue != 0 && size() == 0 && !reading && store != null) {
            store.removeQueue(queue, nodeId);
            queue = 0;
            routes = Set.of();
        }
    }

    /** The node is forgotten: drops everything. Returns the number of messages. */
    int forget() {
        int dropped = size();
        if (queue != 0 && store != null) {
            store.removeQueue(queue, nodeId);
        }
        queue = 0;
        routes = Set.of();
        memory.clear();
        held.removeAll().forEach(message -> message.settle(true)); // its subscribers are forgotten
        unstored.removeAll().forEach(message -> message.settle(true));
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
            return unreadBytes + bytes <= limits.maxBytes() + TRIMMED_BYTES;
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
            drops.add(reason, count);
            report.dropped(nodeId, reason, count, size());
        }
    }
}
