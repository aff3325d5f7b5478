// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.Subscription;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A table of the subscriptions of one session by filter and share name. Open addressing without entry objects, because a
 * session may hold tens of thousands.
 */
@OnEventLoop
class SubscriptionTable {

    private static final int FIRST_CAPACITY = 4;
    private static final @Nullable Subscription[] NOTHING = {};

    private @Nullable Subscription[] slots = NOTHING;
    private int size;

    /**
     * The number of subscriptions.
     *
     * @return a number, exact on the session's event loop
     */
    public int size() {
        return size;
    }

    /**
     * Finds a subscription.
     *
     * @param filter the filter
     * @param shareName the group of a shared subscription, or null
     * @return null if there is none
     */
    public @Nullable Subscription get(TopicFilter filter, @Nullable String shareName) {
        return slots.length == 0 ? null : slots[find(slots, filter, shareName)];
    }

    /** Finds a subscription by the filter that the client sent. */
    @Nullable
    Subscription get(String clientFilter) {
        SharedFilter shared = SharedFilter.isShared(clientFilter) ? SharedFilter.of(clientFilter) : null;
        return shared == null ? get(TopicFilter.of(clientFilter), null) : get(shared.filter(), shared.shareName());
    }

    /** Adds a subscription, or replaces the one with its filter and share name. */
    void put(Subscription subscription) {
        if ((size + 1) * 4 > slots.length * 3) {
            grow();
        }
        int at = find(slots, subscription.filter(), subscription.shareName());
        if (slots[at] == null) {
            size++;
        }
        slots[at] = subscription;
    }

    @Nullable
    Subscription remove(TopicFilter filter, @Nullable String shareName) {
        if (slots.length == 0) {
            return null;
        }
        int at = find(slots, filter, shareName);
        Subscription removed = slots[at];
        if (removed != null) {
            size--;
            close(at);
        }
        return removed;
    }

    /**
     * Visits all subscriptions.
     *
     * @param action called for each; must not change the table
     */
    public void forEach(Consumer<Subscription> action) {
        for (Subscription subscription : slots) {
            if (subscription != null) {
                action.accept(subscription);
            }
        }
    }

    void clear() {
        slots = NOTHING;
        size = 0;
    }

    /** Closes a gap by moving later entries up, so that probing never meets one. */
    private void close(int gap) {
        int mask = slots.length - 1;
        slots[gap] = null;
        int empty = gap;
        for (int at = (gap + 1) & mask; ; at = (at + 1) & mask) {
            Subscription candidate = slots[at];
            if (candidate == null) {
                return;
            }
            int home = hash(candidate.filter(), candidate.shareName()) & mask;
            if (((at - home) & mask) >= ((at - empty) & mask)) {
                slots[empty] = candidate;
                slots[at] = null;
                empty = at;
            }
        }
    }

    private void grow() {
        @Nullable Subscription[] larger = new @Nullable Subscription[Math.max(FIRST_CAPACITY, slots.length * 2)];
        for (Subscription subscription : slots) {
            if (subscription != null) {
                larger[find(larger, subscription.filter(), subscription.shareName())] = subscription;
            }
        }
        slots = larger;
    }

    private static int find(@Nullable Subscription[] table, TopicFilter filter, @Nullable String shareName) {
        int mask = table.length - 1;
        int at = hash(filter, shareName) & mask;
        while (true) {
            Subscription candidate = table[at];
            if (candidate == null
                    || (candidate.filter().equals(filter) && Objects.equals(candidate.shareName(), shareName))) {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    private static int hash(TopicFilter filter, @Nullable String shareName) {
        int hash = filter.hashCode() * 31 + (shareName == null ? 0 : shareName.hashCode());
        return hash ^ (hash >>> 16);
    }
}
