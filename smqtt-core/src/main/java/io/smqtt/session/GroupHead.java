// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The part of a shared group's queue that is in memory: messages that members returned, by number, before the head of those that
 * wait in order. Counts them against the {@link QueueBudget}.
 */
@OnEventLoop
final class GroupHead {

    private final QueueBudget budget;
    private final TreeMap<Long, GroupMessage> returned = new TreeMap<>();
    private final ArrayDeque<GroupMessage> inOrder = new ArrayDeque<>();

    GroupHead(QueueBudget budget) {
        this.budget = budget;
    }

    /** Adds a message behind all others. */
    void add(GroupMessage entry) {
        inOrder.add(entry);
        budget.add(entry.bytes());
    }

    /** Puts a message back, before all that were never assigned to a member. */
    void putBack(GroupMessage entry) {
        returned.put(entry.number(), entry);
        budget.add(entry.bytes());
    }

    /** Marks a returned message as not stored. */
    void notStored(long number) {
        returned.computeIfPresent(number, (key, entry) -> entry.unstored());
    }

    /** The number of messages that were never assigned to a member. */
    int inOrder() {
        return inOrder.size();
    }

    @Nullable
    GroupMessage first() {
        return returned.isEmpty() ? inOrder.peek() : returned.firstEntry().getValue();
    }

    void removeFirst() {
        GroupMessage removed = returned.isEmpty()
                ? inOrder.remove()
                : returned.pollFirstEntry().getValue();
        budget.add(-removed.bytes());
    }

    /** Removes a message that was never assigned to a member. Returns false if it is not here. */
    boolean remove(long number) {
        return inOrder.removeIf(released(entry -> entry.number() == number));
    }

    /** Removes the messages that match a condition. */
    void removeIf(Predicate<GroupMessage> condition) {
        returned.values().removeIf(released(condition));
        inOrder.removeIf(released(condition));
    }

    void clear() {
        removeIf(entry -> true);
    }

    private Predicate<GroupMessage> released(Predicate<GroupMessage> condition) {
        return entry -> {
            boolean goes = condition.test(entry);
            if (goes) {
                budget.add(-entry.bytes());
            }
            return goes;
        };
    }
}
