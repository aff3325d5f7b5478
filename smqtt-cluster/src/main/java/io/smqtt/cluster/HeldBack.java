// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Messages for one node that cannot be parked now, and whose publishers wait, because MQTT 3.1.1 has no negative acknowledgement. In memory, in
 * the order of their rows, within a limit.
 */
@OnClusterLoop
final class HeldBack {

    static final int MAXIMUM_MESSAGES = 65_536;
    private static final long MAXIMUM_BYTES = 32L << 20;

    private final TreeMap<Long, OutboundMessage> messages = new TreeMap<>();
    private long bytes;

    boolean isEmpty() {
        return messages.isEmpty();
    }

    /** Whether one has this row or an earlier one. */
    boolean hasUpTo(long row) {
        return !messages.isEmpty() && messages.firstKey() <= row;
    }

    int size() {
        return messages.size();
    }

    /**
     * Adds a message that has a row.
     *
     * @return false if its publisher does not wait, or too many messages are here
     */
    boolean takes(OutboundMessage message) {
        boolean taken = messages.size() < MAXIMUM_MESSAGES
                && bytes + message.bytes() <= MAXIMUM_BYTES
                && message.ticket().waitsForRoom();
        if (taken) {
            messages.put(message.row(), message);
            bytes += message.bytes();
        }
        return taken;
    }

    /** The first message; null if there is none. */
    @Nullable
    OutboundMessage first() {
        Map.Entry<Long, OutboundMessage> first = messages.firstEntry();
        return first == null ? null : first.getValue();
    }

    /** Removes a message; false if it is not here. */
    boolean remove(OutboundMessage message) {
        boolean removed = messages.remove(message.row(), message);
        bytes -= removed ? message.bytes() : 0;
        return removed;
    }

    /**
     * Gives all messages other rows, in their order.
     *
     * @param lastRow the row before the first one
     * @return the row of the last message
     */
    long renumber(long lastRow) {
        long row = lastRow;
        List<OutboundMessage> all = new ArrayList<>(messages.values());
        messages.clear();
        for (OutboundMessage message : all) {
            message.parkedAs(++row);
            messages.put(row, message);
        }
        return row;
    }

    /** Removes all messages, and returns them in their order. */
    List<OutboundMessage> removeAll() {
        List<OutboundMessage> all = new ArrayList<>(messages.values());
        messages.clear();
        bytes = 0;
        return all;
    }

    /**
     * Refuses the messages whose publishers no longer wait: they send them again.
     *
     * @return the number of messages
     */
    int refuseGone() {
        int before = messages.size();
        messages.values().removeIf(message -> {
            boolean gone = !message.ticket().waitsForRoom();
            if (gone) {
                bytes -= message.bytes();
                message.settle(false);
            }
            return gone;
        });
        return before - messages.size();
    }
}
