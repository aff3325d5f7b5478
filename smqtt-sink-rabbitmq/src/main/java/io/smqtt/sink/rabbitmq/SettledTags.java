// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The messages of a channel that are delivered and not acknowledged. They are settled in any order, and acknowledged in theirs. For one thread. */
final class SettledTags {

    /** A state of a message that the server waits for. */
    private enum State {
        OPEN,
        STORED,
        REJECTED
    }

    private final TreeMap<Long, State> tags = new TreeMap<>();
    private int open;

    /** The number of messages that are neither stored nor rejected. */
    int open() {
        return open;
    }

    void add(long tag) {
        if (tags.put(tag, State.OPEN) == null) {
            open++;
        }
    }

    /** Notes that a message is stored, and can be acknowledged. */
    void stored(long tag) {
        settle(tag, State.STORED);
    }

    /** Notes that a message was rejected, and must not be acknowledged. */
    void rejected(long tag) {
        settle(tag, State.REJECTED);
    }

    private void settle(long tag, State as) {
        if (tags.replace(tag, State.OPEN, as)) {
            open--;
        }
    }

    /** Takes the messages before the first open one: returns the tag up to which all can be acknowledged, 0 if there is none. */
    long take() {
        long last = 0;
        Map.Entry<Long, State> first = tags.firstEntry();
        while (first != null && first.getValue() != State.OPEN) {
            if (first.getValue() == State.STORED) {
                last = first.getKey();
            }
            tags.pollFirstEntry();
            first = tags.firstEntry();
        }
        return last;
    }

    /** Takes all messages that are stored, also those behind open ones: returns their tags in ascending order. */
    List<Long> allStored() {
        List<Long> stored = new ArrayList<>();
        tags.forEach((tag, state) -> {
            if (state == State.STORED) {
                stored.add(tag);
            }
        });
        tags.keySet().removeAll(stored);
        return stored;
    }
}
