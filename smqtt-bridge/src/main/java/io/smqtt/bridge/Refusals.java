// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.DeliveryPause;
import io.smqtt.thread.OnEventLoop;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The messages in flight that the other broker has refused with reason 0x97, and has not taken since, over successive connections of a bridge. In
 * memory. Of one connection at a time, on its event loop.
 */
@OnEventLoop
final class Refusals {

    private final Map<Integer, Refusal> byPacketId =
            new ConcurrentHashMap<>(); // connections have different event loops

    /**
     * A refused message.
     *
     * @param firstNanos the time of its first refusal, in nanoseconds of the monotonic clock
     * @param ended whether it was not sent since its last refusal: for the other broker the exchange has ended [MQTT-4.3.2-3]
     */
    private record Refusal(ApplicationMessage message, long firstNanos, boolean ended) {

        private boolean isOf(ApplicationMessage other) {
            return message == other.onHeap();
        }
    }

    boolean isEmpty() {
        return byPacketId.isEmpty();
    }

    /**
     * Notes a refusal.
     *
     * @return the nanoseconds since the first refusal of the message
     */
    long refused(int packetId, ApplicationMessage message, long nowNanos) {
        Refusal before = byPacketId.get(packetId);
        long first = before != null && before.isOf(message) ? before.firstNanos : nowNanos;
        byPacketId.put(packetId, new Refusal(message.onHeap(), first, true));
        return nowNanos - first;
    }

    /**
     * Notes that a message is sent again.
     *
     * @return whether that begins a new exchange for the other broker, which has ended the former one by a refusal
     */
    boolean begins(int packetId) {
        Refusal refusal = byPacketId.get(packetId);
        if (refusal == null || !refusal.ended) {
            return false;
        }
        byPacketId.put(packetId, new Refusal(refusal.message, refusal.firstNanos, false));
        return true;
    }

    /** Whether a message was refused, and not sent again since. */
    boolean isEnded(int packetId) {
        Refusal refusal = byPacketId.get(packetId);
        return refusal != null && refusal.ended;
    }

    /** Forgets all messages: they were those of another session. */
    void clear() {
        byPacketId.clear();
    }

    /**
     * Forgets a message.
     *
     * @return whether it was refused, and not sent again since
     */
    boolean remove(int packetId) {
        Refusal refusal = byPacketId.remove(packetId);
        return refusal != null && refusal.ended;
    }

    /**
     * Forgets the messages that our session has given up: they have expired.
     *
     * @return the number of those that were not sent again since their refusal
     */
    int removeGone(DeliveryPause session) {
        int gone = 0;
        Iterator<Map.Entry<Integer, Refusal>> entries = byPacketId.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry<Integer, Refusal> each = entries.next();
            ApplicationMessage present = session.inFlight(each.getKey());
            if (present == null || !each.getValue().isOf(present)) {
                entries.remove();
                gone += each.getValue().ended ? 1 : 0;
            }
        }
        return gone;
    }
}
