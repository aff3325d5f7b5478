// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoredMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Some messages that the sessions of one event loop have taken, to recognize duplicates from a merged session: a hash table that is at most
 * half full. Written on the event loop; read on any thread, where the latest entries may be missing.
 */
final class TakenMessages {

    /** Deliveries that it holds. */
    static final int CAPACITY = 32_768;

    private static final int SLOTS = 2 * CAPACITY;

    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private static final AtomicLong KEYS = new AtomicLong();

    private final AtomicLongArray values = new AtomicLongArray(SLOTS);
    private int size;

    /** Allocates a number for a session. It identifies the session, not the client: a later session of the client starts empty. */
    @AnyThread
    static long newKey() {
        long mixed = KEYS.incrementAndGet() * SPREAD;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return (mixed ^ (mixed >>> 31)) | 1;
    }

    /**
     * Identifies a delivery of a session. A message is delivered once for all ordinary subscriptions of the session
     * together, and once for each shared one.
     *
     * @return {@link ApplicationMessage#NO_ID} for a message without an identifier
     */
    @AnyThread
    static long idOf(ApplicationMessage message, Subscription subscription) {
        return idOf(message, subscription.shareName(), subscription.filter());
    }

    /** Identifies a delivery of another node or of the store in the same way. */
    @AnyThread
    static long idOf(StoredMessage stored) {
        String filter = stored.clientFilter();
        if (!SharedFilter.isShared(filter)) {
            return stored.message().id();
        }
        SharedFilter shared = SharedFilter.of(filter);
        return idOf(stored.message(), shared.shareName(), shared.filter());
    }

    /** Identifies the delivery of a message to a member of a group. */
    @AnyThread
    static long idOf(ApplicationMessage message, SharedFilter group) {
        return idOf(message, group.shareName(), group.filter());
    }

    /** Identifies the delivery of a message with an identifier to a member of a group. */
    @AnyThread
    static long idOf(long messageId, SharedFilter group) {
        return idOf(messageId, group.shareName(), group.filter());
    }

    private static long idOf(ApplicationMessage message, @Nullable String shareName, TopicFilter filter) {
        return idOf(message.id(), shareName, filter);
    }

    private static long idOf(long id, @Nullable String shareName, TopicFilter filter) {
        return shareName == null || id == ApplicationMessage.NO_ID
                ? id
                : id * SPREAD + 31L * shareName.hashCode() + filter.value().hashCode();
    }

    /** Whether there is no room for another delivery. */
    @OnEventLoop
    boolean isFull() {
        return size == CAPACITY;
    }

    /** Records a delivery that a session has taken, in a table that is not full. */
    @OnEventLoop
    void took(long sessionKey, long deliveryId) {
        if (deliveryId == ApplicationMessage.NO_ID) {
            return;
        }
        long value = value(sessionKey, deliveryId);
        int slot = slotOf(value);
        for (long present = values.getPlain(slot); present != 0; present = values.getPlain(slot)) {
            if (present == value) {
                return;
            }
            slot = slot + 1 & SLOTS - 1;
        }
        values.setRelease(slot, value);
        size++;
    }

    static long value(long sessionKey, long deliveryId) {
        long mixed = (deliveryId ^ (deliveryId >>> 32)) * SPREAD;
        long value =
                (mixed ^ (mixed >>> 29)) * sessionKey; // the key is odd: different deliveries have different values
        return value == 0 ? 1 : value;
    }

    private static int slotOf(long value) {
        return (int) (value >>> 40) & SLOTS - 1;
    }

    /** Whether a session has taken a delivery. */
    @AnyThread
    boolean knows(long sessionKey, long deliveryId) {
        long value = value(sessionKey, deliveryId);
        int slot = slotOf(value);
        for (long present = values.getAcquire(slot); present != 0; present = values.getAcquire(slot)) {
            if (present == value) {
                return true;
            }
            slot = slot + 1 & SLOTS - 1;
        }
        return false;
    }
}
