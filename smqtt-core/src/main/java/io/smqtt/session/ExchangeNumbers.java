// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.OnEventLoop;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * The identifier that the next QoS 2 message with each packet identifier gets ({@link ApplicationMessage#id}). It is in the store before the client may
 * use the packet identifier. So a message that is sent again after a crash, to this node or to another one, is the same message, although nothing
 * was stored when it was forwarded for the first time.
 *
 * <p>The first number of each packet identifier is derived from one number of the session. When a message is released, its packet identifier gets a
 * new number, which has a row of its own. {@link #MANY} rows are replaced by another number from which all others are derived.
 */
@OnEventLoop
final class ExchangeNumbers {

    /** The key of the number from which others are derived, in place of a packet identifier. */
    static final int BASE = 0;

    /** More rows are replaced: about 24 KiB of memory. A client that uses each packet identifier in turn has so many, others have few. */
    static final int MANY = 1_024;

    private static final int FIRST_SLOTS = 16;
    private static final int SLOT_BYTES = Integer.BYTES + Long.BYTES;
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private long base;

    // a hash table that is at most half full; 0 is a free slot
    private int[] packetIds = {};
    private long[] numbers = {};
    private int size;

    /**
     * Creates the numbers of a session without rows.
     *
     * @param base a number that no message has
     */
    ExchangeNumbers(long base) {
        this.base = base;
    }

    /** The number from which others are derived. */
    long base() {
        return base;
    }

    /** The number of rows. */
    int size() {
        return size;
    }

    /** The bytes of the rows in memory. */
    int bytes() {
        return packetIds.length * SLOT_BYTES;
    }

    /** Whether a packet identifier has a row. */
    boolean has(int packetId) {
        return size > 0 && packetIds[slotOf(packetId)] == packetId;
    }

    /**
     * The identifier of the message that has a packet identifier, or will have it next.
     *
     * @return a number that is not {@link ApplicationMessage#NO_ID}
     */
    long of(int packetId) {
        if (size > 0) {
            int slot = slotOf(packetId);
            if (packetIds[slot] == packetId) {
                return numbers[slot];
            }
        }
        return derived(packetId);
    }

    private long derived(int packetId) {
        long mixed = base + packetId * SPREAD;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D0_49BB_1331_11EBL;
        mixed ^= mixed >>> 31;
        return mixed == ApplicationMessage.NO_ID ? 1 : mixed;
    }

    /**
     * Sets a number.
     *
     * @param packetId 1 to 65,535, or {@link #BASE}
     */
    void put(int packetId, long number) {
        if (packetId == BASE) {
            base = number;
            return;
        }
        if (2 * (size + 1) > packetIds.length) {
            grow();
        }
        int slot = slotOf(packetId);
        if (packetIds[slot] == 0) {
            packetIds[slot] = packetId;
            size++;
        }
        numbers[slot] = number;
    }

    private void grow() {
        int[] beforeIds = packetIds;
        long[] beforeNumbers = numbers;
        packetIds = new int[Math.max(FIRST_SLOTS, 2 * beforeIds.length)];
        numbers = new long[packetIds.length];
        for (int i = 0; i < beforeIds.length; i++) {
            if (beforeIds[i] != 0) {
                int slot = slotOf(beforeIds[i]);
                packetIds[slot] = beforeIds[i];
                numbers[slot] = beforeNumbers[i];
            }
        }
    }

    /** Removes rows, and passes on their packet identifiers. */
    void removeUnless(IntPredicate stays, IntConsumer removed) {
        int[] beforeIds = packetIds;
        long[] beforeNumbers = numbers;
        packetIds = new int[0];
        numbers = new long[0];
        size = 0;
        for (int i = 0; i < beforeIds.length; i++) {
            if (beforeIds[i] != 0 && stays.test(beforeIds[i])) {
                put(beforeIds[i], beforeNumbers[i]);
            } else if (beforeIds[i] != 0) {
                removed.accept(beforeIds[i]);
            }
        }
    }

    /** All of it, with {@link #BASE} as a key, for another node. */
    Map<Integer, Long> all() {
        Map<Integer, Long> all = new HashMap<>();
        all.put(BASE, base);
        for (int i = 0; i < packetIds.length; i++) {
            if (packetIds[i] != 0) {
                all.put(packetIds[i], numbers[i]);
            }
        }
        return all;
    }

    /** The slot of a packet identifier, or a free one. */
    private int slotOf(int packetId) {
        int mask = packetIds.length - 1;
        int slot = packetId & mask;
        while (packetIds[slot] != 0 && packetIds[slot] != packetId) {
            slot = slot + 1 & mask;
        }
        return slot;
    }
}
