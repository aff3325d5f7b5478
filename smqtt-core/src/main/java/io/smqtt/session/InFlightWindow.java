// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * QoS 1 and 2 messages that were sent and are not yet acknowledged, in the order of sending. A message's sequence number
 * determines both its slot in a ring and its packet identifier. So finding a message by packet identifier is arithmetic,
 * and no identifier is used twice at a time [MQTT-2.2.1-4]. The ring grows as needed, up to 65,536 slots.
 *
 * <p>A client may leave old messages unacknowledged while it acknowledges later ones. The ring does not grow for them: they
 * become {@link Stragglers}, whose slots are beside the ring, and newer messages skip their identifiers. So only a client
 * with 65,535 messages in flight, or 60,000 out of order, runs out of identifiers, and the size of the ring follows the
 * number of messages in flight. A client that acknowledges nearly in order has no stragglers.
 *
 * <p>For a stored session, each message's number in the store is kept beside it. After a restart its messages return in their
 * old order, each with its old identifier: {@link #reach} leaves slots empty for those acknowledged in between.
 */
@OnEventLoop
final class InFlightWindow {

    /** The number of packet identifiers: 1 to 65,535. */
    static final int IDENTIFIERS = 65_535;

    /** The states of a slot. */
    static final byte FREE = 0;

    static final byte AWAITING_PUBACK = 1;
    static final byte AWAITING_PUBREC = 2;
    static final byte AWAITING_PUBCOMP = 3;

    /**
     * Flags of a slot: the message was not sent yet; its last state change is not committed to the store yet; it was not
     * written to the store yet; the client has refused it for the time being, so nothing of it is there.
     */
    static final byte UNSENT = 0x08;

    static final byte UNSAFE = 0x10;
    static final byte HELD_BACK = 0x40;
    static final byte REFUSED = (byte) 0x80;

    /** Flag of a slot with a reference to its payload: the others are released without a look at the message. */
    private static final byte RETAINED = 0x20;

    private static final ApplicationMessage NOTHING =
            ApplicationMessage.builder("-").qos(QoS.EXACTLY_ONCE).build();
    private static final int STATE = 0x07;
    private static final int FIRST_CAPACITY = 8;

    /** From this size on the ring grows only if it is well used: a few old messages may cause its length. */
    private static final int SPARSE_CAPACITY = 1_024;

    private static final int FEWEST_PLACES = 16;

    /** The maximum number of messages while there are stragglers. It ensures that a free identifier is near. */
    private static final int MOST_IN_DISORDER = 60_000;

    /** The granularity, in bytes, at which a window reports changes to the budget. It saves updates for small changes. */
    static final long STEP_BYTES = 4 * 1024;

    private final QueueBudget budget;
    private @Nullable ApplicationMessage[] messages = new @Nullable ApplicationMessage[FIRST_CAPACITY];
    private @Nullable Subscription[] subscriptions = new @Nullable Subscription[FIRST_CAPACITY];
    private byte[] states = new byte[FIRST_CAPACITY];

    /** The footprints of the messages: an acknowledgement need not read the message for it, which is in no cache any more. */
    private int[] footprints = new int[FIRST_CAPACITY];

    private long @Nullable [] numbers;
    private @Nullable RouteTicket @Nullable [] tickets; // of messages that are held back
    private @Nullable Stragglers stragglers; // their slots follow the ring's
    private int mask = FIRST_CAPACITY - 1; // of the ring
    private int limit = FIRST_CAPACITY; // end of the ring
    private long head; // of the ring
    private int headPacketId = 1; // of that sequence number
    private long tail;
    private int size;
    private int unsentFlags; // their sum
    private long bytes;
    private long reportedBytes; // last value reported to the budget

    InFlightWindow(QueueBudget budget) {
        this.budget = budget;
    }

    /** Returns whether one more message finds an unused packet identifier. */
    boolean hasIdentifier() {
        return size < MOST_IN_DISORDER || (size < IDENTIFIERS && stragglers == null);
    }

    @AnyThread
    int size() {
        return size;
    }

    /** Bytes of unacknowledged messages. */
    long bytes() {
        return bytes;
    }

    /** The first sequence number that may be in use. */
    long head() {
        Stragglers old = stragglers;
        return old == null ? head : old.from(0, head);
    }

    /**
     * Returns the first sequence number from a given one on that may be in use: for loops from {@link #head()} to {@link #tail()}.
     *
     * @param sequence 0 or more
     * @return a sequence number that the other methods accept, or {@link #tail()} or more
     */
    long from(long sequence) {
        if (sequence >= head) {
            return sequence;
        }
        Stragglers old = stragglers;
        return old == null ? head : old.from(sequence, head);
    }

    /** Returns whether a message with this sequence number is in flight. Accepts any number. */
    boolean holds(long sequence) {
        if (sequence >= head) {
            return sequence < tail && states[(int) sequence & mask] != FREE;
        }
        Stragglers old = stragglers;
        return old != null && old.holds(sequence);
    }

    /** The next sequence number. */
    long tail() {
        return tail;
    }

    /**
     * Adds a message.
     *
     * @return its sequence number
     */
    long add(ApplicationMessage message, Subscription subscription, QoS qos) {
        if (tail - head >= limit || stragglers != null) {
            prepare();
        }
        int slot = (int) tail & mask;
        messages[slot] = message;
        subscriptions[slot] = subscription;
        states[slot] = qos == QoS.AT_LEAST_ONCE ? AWAITING_PUBACK : AWAITING_PUBREC;
        if (!message.payload().isOnHeap()) {
            message.payload().retain();
            states[slot] |= RETAINED;
        }
        size++;
        int footprint = message.footprintBytes();
        footprints[slot] = footprint;
        account(footprint);
        return tail++;
    }

    /** Sets the store's number of the message in a slot. */
    void number(long sequence, long number) {
        long[] all = numbers;
        if (all == null) {
            all = new long[states.length];
            numbers = all;
        }
        all[slot(sequence)] = number;
    }

    /** The store's number of the message in a slot. */
    long number(long sequence) {
        return numbers == null ? 0 : numbers[slot(sequence)];
    }

    /** Marks a message as not written to the store, and keeps the ticket that is held for it. */
    void holdBack(long sequence, RouteTicket ticket) {
        @Nullable RouteTicket[] all = tickets;
        if (all == null) {
            all = new @Nullable RouteTicket[states.length];
            tickets = all;
        }
        all[slot(sequence)] = ticket;
        set(sequence, HELD_BACK);
    }

    /** Ends {@link #holdBack}. */
    RouteTicket takeTicket(long sequence) {
        clear(sequence, HELD_BACK);
        @Nullable RouteTicket[] all = tickets;
        RouteTicket ticket = all == null ? null : all[slot(sequence)];
        if (all != null) {
            all[slot(sequence)] = null;
        }
        return ticket == null ? RouteTicket.NONE : ticket;
    }

    /**
     * Advances the tail so that the next message gets a given identifier; skipped slots stay empty.
     *
     * @return false if the identifier is in use: that message must be acknowledged first
     */
    boolean reach(int packetId) {
        Stragglers old = stragglers;
        long sequence = ringSequence(packetId);
        if (holds(sequence) || (old != null && old.hasIdentifier(packetId))) {
            return false;
        }
        advanceTo(tail + (packetId - 1 - tail % IDENTIFIERS + IDENTIFIERS) % IDENTIFIERS);
        return true;
    }

    /** Leaves slots empty up to a sequence number, which is closer than the number of identifiers. */
    private void advanceTo(long wanted) {
        long span = wanted - head;
        if (head != tail && span >= SPARSE_CAPACITY && inRing() <= span / 4) {
            leaveBehind(tail);
        } else if (span >= IDENTIFIERS) {
            leaveBehind(wanted - IDENTIFIERS + 1);
        }
        if (head == tail) {
            moveHead(wanted);
        }
        while (wanted - head > mask + 1) {
            resize((mask + 1) * 2);
        }
        tail = wanted;
    }

    /** Makes the next slot usable: within the ring, and with an identifier that no old message has. */
    private void prepare() {
        int taken = takenFrom(tail);
        while (taken > 0 || tail - head >= limit) {
            if (taken > 0) {
                advanceTo(tail + taken);
            } else {
                makeRoom();
            }
            taken = takenFrom(tail); // the ring may have made stragglers
        }
    }

    /** The number of consecutive sequence numbers from a given one on whose identifiers are taken by old messages. */
    private int takenFrom(long sequence) {
        return stragglers == null ? 0 : stragglers.takenFrom(packetId(sequence));
    }

    /** Makes room in a full ring: it grows if it is well used, or else makes stragglers of its oldest messages. */
    private void makeRoom() {
        long span = tail - head;
        boolean sparse = span >= SPARSE_CAPACITY && inRing() <= span / 4;
        if (sparse) {
            leaveBehind(head + span / 2);
        } else if (span == IDENTIFIERS) {
            leaveBehind(head + 1);
        } else {
            resize((mask + 1) * 2);
        }
    }

    private int inRing() {
        return stragglers == null ? size : size - stragglers.size();
    }

    /** Makes stragglers of the ring's messages before a sequence number, which is not beyond the tail. */
    private void leaveBehind(long end) {
        int count = 0;
        for (long sequence = head; sequence < end; sequence++) {
            count += states[(int) sequence & mask] == FREE ? 0 : 1;
        }
        Stragglers old = stragglers;
        if (old == null) {
            old = new Stragglers(states.length - mask - 1);
            stragglers = old;
        }
        if (!old.hasPlaces(count)) {
            resize(mask + 1, places(mask + 1, old.size() + count));
        }
        for (long sequence = head; sequence < end; sequence++) {
            int from = (int) sequence & mask;
            if (states[from] != FREE) {
                move(from, mask + 1 + old.add(sequence));
            }
        }
        moveHead(end);
        advance();
    }

    private void move(int from, int to) {
        messages[to] = messages[from];
        messages[from] = null;
        subscriptions[to] = subscriptions[from];
        subscriptions[from] = null;
        states[to] = states[from];
        states[from] = FREE;
        footprints[to] = footprints[from];
        if (numbers != null) {
            numbers[to] = numbers[from];
        }
        if (tickets != null) {
            tickets[to] = tickets[from];
            tickets[from] = null;
        }
    }

    /** Advances the head over empty slots. */
    private void advance() {
        while (head < tail && states[(int) head & mask] == FREE) {
            head++;
            headPacketId = headPacketId == IDENTIFIERS ? 1 : headPacketId + 1;
        }
    }

    private void moveHead(long sequence) {
        head = sequence;
        headPacketId = packetId(sequence);
    }

    boolean is(long sequence, byte flag) {
        return (states[slot(sequence)] & flag) != 0;
    }

    void set(long sequence, byte flag) {
        int slot = slot(sequence);
        change(slot, states[slot] | flag);
    }

    void clear(long sequence, byte flag) {
        int slot = slot(sequence);
        change(slot, states[slot] & ~flag);
    }

    private void change(int slot, int state) {
        unsentFlags += (state & UNSENT) - (states[slot] & UNSENT);
        states[slot] = (byte) state;
    }

    static int packetId(long sequence) {
        return (int) (sequence % IDENTIFIERS) + 1;
    }

    /**
     * Finds the message with a packet identifier.
     *
     * @return its sequence number, or -1
     */
    long find(int packetId) {
        long sequence = ringSequence(packetId);
        if (sequence < tail && isSent(states[(int) sequence & mask])) {
            return sequence;
        }
        return stragglers == null ? -1 : findOld(stragglers, packetId);
    }

    private long findOld(Stragglers old, int packetId) {
        long sequence = old.find(packetId);
        return sequence >= 0 && isSent(states[slot(sequence)]) ? sequence : -1;
    }

    /** The sequence number in the ring that has an identifier. */
    private long ringSequence(int packetId) {
        int distance = packetId - headPacketId;
        return head + (distance < 0 ? distance + IDENTIFIERS : distance);
    }

    private static boolean isSent(byte state) {
        return state != FREE && (state & UNSENT) == 0;
    }

    byte state(long sequence) {
        return (byte) (states[slot(sequence)] & STATE);
    }

    @Nullable
    ApplicationMessage message(long sequence) {
        return messages[slot(sequence)];
    }

    @Nullable
    Subscription subscription(long sequence) {
        return subscriptions[slot(sequence)];
    }

    /** Discards the content of a received message: only the handshake remains. */
    void received(long sequence) {
        int slot = slot(sequence);
        forget(slot);
        change(slot, AWAITING_PUBCOMP);
    }

    /**
     * Lists the oldest messages, without those of which only the handshake remains.
     *
     * @param most the maximum number of messages
     * @param target receives them in order
     */
    void list(int most, List<WaitingMessage> target) {
        for (long sequence = head(); sequence < tail() && target.size() < most; sequence = from(sequence + 1)) {
            ApplicationMessage message = holds(sequence) ? message(sequence) : null;
            Subscription subscription = message == null ? null : subscription(sequence);
            if (message != null && subscription != null) {
                target.add(WaitingMessage.of(message, subscription, packetId(sequence)));
            }
        }
    }

    /** A copy of a message for another node. */
    StoredMessage snapshot(long sequence, long number) {
        ApplicationMessage message = message(sequence);
        Subscription subscription = subscription(sequence);
        if (message == null || subscription == null) { // only the handshake remains
            return new StoredMessage(
                    number,
                    NOTHING,
                    NOTHING.topic().value(),
                    QoS.EXACTLY_ONCE,
                    false,
                    new int[0],
                    new StoredDelivery(StoredDelivery.State.RECEIVED, packetId(sequence)));
        }
        QoS qos = state(sequence) == AWAITING_PUBACK ? QoS.AT_LEAST_ONCE : QoS.EXACTLY_ONCE;
        StoredDelivery delivery = new StoredDelivery(StoredDelivery.State.SENT, packetId(sequence));
        return subscription.stored(number, message.onHeap(), qos, delivery);
    }

    /** The number of messages that the client has not confirmed to have. */
    int undelivered() {
        int count = 0;
        for (long sequence = head(); sequence < tail; sequence = from(sequence + 1)) {
            if (messages[slot(sequence)] != null) {
                count++;
            }
        }
        return count;
    }

    /** The number of messages that were never sent. */
    @AnyThread
    int unsent() {
        return unsentFlags / UNSENT;
    }

    /** Removes a message; its packet identifier may be used again. */
    void remove(long sequence) {
        int slot = slot(sequence);
        forget(slot);
        change(slot, FREE);
        size--;
        if (sequence >= head) {
            advance();
        } else {
            removeOld(sequence);
        }
    }

    private void removeOld(long sequence) {
        Stragglers old = stragglers;
        if (old != null) {
            old.remove(sequence);
            if (old.size() == 0) {
                stragglers = null;
            }
        }
    }

    private void account(int change) {
        bytes += change;
        long unreported = bytes - reportedBytes;
        if (unreported >= STEP_BYTES || unreported <= -STEP_BYTES || (bytes == 0 && reportedBytes != 0)) {
            reportedBytes = bytes;
            budget.add(unreported);
        }
    }

    /** Releases all messages at the end of the session. */
    void clear() {
        for (long sequence = head(); sequence < tail; sequence = from(sequence + 1)) {
            if (states[slot(sequence)] != FREE) {
                remove(sequence);
            }
        }
    }

    private void forget(int slot) {
        ApplicationMessage message = messages[slot];
        if (message != null) {
            account(-footprints[slot]);
            if ((states[slot] & RETAINED) != 0) {
                message.payload().release();
            }
            messages[slot] = null;
        }
        subscriptions[slot] = null;
    }

    /** Copies payloads in network buffers to the heap, so that an offline client does not hold any of them. */
    void moveToHeap() {
        for (long sequence = head(); sequence < tail; sequence = from(sequence + 1)) {
            int slot = slot(sequence);
            ApplicationMessage message = messages[slot];
            if (message != null && (states[slot] & RETAINED) != 0) {
                messages[slot] = message.onHeap();
                states[slot] &= (byte) ~RETAINED;
                message.payload().release();
            }
        }
    }

    /** Shrinks after a burst, while the client is offline. */
    void trim() {
        int capacity = mask + 1;
        while (capacity > FIRST_CAPACITY && capacity / 2 >= tail - head) {
            capacity /= 2;
        }
        int places = stragglers == null ? 0 : places(capacity, stragglers.size());
        if (capacity + places < states.length) {
            resize(capacity, places);
        }
    }

    private int slot(long sequence) {
        return sequence >= head ? (int) sequence & mask : oldSlot(sequence);
    }

    private int oldSlot(long sequence) {
        Stragglers old = stragglers;
        if (old == null || !old.holds(sequence)) {
            throw new IllegalStateException("no message in flight has this number");
        }
        return mask + 1 + old.place(sequence);
    }

    /** The number of straggler slots beside a ring: enough that slots are rarely copied. */
    private static int places(int capacity, int count) {
        return Math.max(Math.max(FEWEST_PLACES, capacity / 16), Integer.highestOneBit(count) * 4);
    }

    private void resize(int capacity) {
        resize(capacity, stragglers == null ? 0 : places(capacity, stragglers.size()));
    }

    /**
     * Allocates arrays of another size and copies the slots.
     *
     * @param capacity slots of the ring, a power of two
     * @param places slots of stragglers
     */
    private void resize(int capacity, int places) {
        @Nullable ApplicationMessage[] newMessages = new @Nullable ApplicationMessage[capacity + places];
        @Nullable Subscription[] newSubscriptions = new @Nullable Subscription[capacity + places];
        byte[] newStates = new byte[capacity + places];
        int[] newFootprints = new int[capacity + places];
        long[] oldNumbers = numbers;
        long[] newNumbers = oldNumbers == null ? null : new long[capacity + places];
        @Nullable RouteTicket @Nullable [] oldTickets = tickets;
        @Nullable RouteTicket[] newTickets = oldTickets == null ? null : new @Nullable RouteTicket[capacity + places];
        int place = capacity;
        for (long sequence = head(); sequence < tail; sequence = from(sequence + 1)) {
            int from = slot(sequence);
            int to = sequence >= head ? (int) sequence & (capacity - 1) : place++;
            newMessages[to] = messages[from];
            newSubscriptions[to] = subscriptions[from];
            newStates[to] = states[from];
            newFootprints[to] = footprints[from];
            if (newNumbers != null && oldNumbers != null) {
                newNumbers[to] = oldNumbers[from];
            }
            if (newTickets != null && oldTickets != null) {
                newTickets[to] = oldTickets[from];
            }
        }
        messages = newMessages;
        subscriptions = newSubscriptions;
        states = newStates;
        footprints = newFootprints;
        numbers = newNumbers;
        tickets = newTickets;
        mask = capacity - 1;
        limit = Math.min(capacity, IDENTIFIERS);
        if (stragglers != null) {
            stragglers.compact(places);
        }
    }

    /** The number of slots, used and unused. */
    int capacity() {
        return states.length;
    }
}
