// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.topic.TopicName;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The result of {@link SubscriptionIndex#match}: subscriptions, and groups of shared subscriptions, of which one member each is
 * to be selected. Reused for each match, so that matching allocates nothing once the arrays have grown. Not thread-safe: each
 * event loop has its own.
 */
public final class Matches {

    private static final int USUAL_SIZE = 16;
    private static final int COMPARED_PAIRWISE = 8;

    private final TopicScan scan = new TopicScan();
    private TrieNode[] nodes = new TrieNode[USUAL_SIZE];
    private int[] levels = new int[USUAL_SIZE];
    private int waiting;

    private Subscription[] subscriptions = new Subscription[USUAL_SIZE];
    private int size;
    private int filters;
    private SharedGroup[] groups = new SharedGroup[2];
    private int sharedSize;
    private int[] places = new int[0];
    private final @Nullable RecentMatches recent;

    /** Creates an empty result. */
    public Matches() {
        this(null);
    }

    /** Creates the result of an event loop, which remembers those of its recent matches. */
    Matches(@Nullable RecentMatches recent) {
        this.recent = recent;
    }

    /** Clears the result, and drops all references. {@link SubscriptionIndex#match} begins with this. */
    public void clear() {
        Arrays.fill(subscriptions, 0, size, null);
        Arrays.fill(groups, 0, sharedSize, null);
        size = 0;
        filters = 0;
        sharedSize = 0;
    }

    /**
     * The number of matching subscriptions that are not shared.
     *
     * @return subscriptions
     */
    public int size() {
        return size;
    }

    /**
     * A matching subscription. The order is undefined.
     *
     * @param index from 0 to {@link #size()}, exclusive
     * @return the subscription
     */
    public Subscription get(int index) {
        return subscriptions[index];
    }

    /**
     * The number of groups that share a matching filter.
     *
     * @return groups
     */
    public int sharedSize() {
        return sharedSize;
    }

    /**
     * A group that shares a matching filter; each gets the message once.
     *
     * @param index from 0 to {@link #sharedSize()}, exclusive
     * @return the group
     */
    public SharedGroup shared(int index) {
        return groups[index];
    }

    /**
     * Whether nothing matches.
     *
     * @return true if there is neither a subscription nor a group
     */
    public boolean isEmpty() {
        return size == 0 && sharedSize == 0;
    }

    /**
     * Prepares the deliveries: removes the No Local subscriptions of the publisher [MQTT-3.8.3-3], then merges the subscriptions of
     * each subscriber into the first of them [MQTT-3.3.4-2]. Does not look for overlaps if all subscriptions have the same filter.
     * Allocates only for subscribers with overlapping subscriptions.
     *
     * @param publisherId the client identifier of the publisher; null if the publisher is not a subscriber
     */
    public void mergeOverlaps(@Nullable String publisherId) {
        if (publisherId != null) {
            removeNoLocal(publisherId);
        }
        if (filters < 2 || size < 2) {
            return;
        }
        if (size <= COMPARED_PAIRWISE) {
            mergePairwise();
        } else {
            mergeByTable();
        }
        filters = 1;
    }

    private void removeNoLocal(String publisherId) {
        int kept = 0;
        for (int i = 0; i < size; i++) {
            Subscription next = subscriptions[i];
            if (!next.noLocal() || !next.subscriber().id().equals(publisherId)) {
                subscriptions[kept++] = next;
            }
        }
        truncate(kept);
    }

    /** Removes the subscriptions of subscribers that do not take a topic. */
    void retainTakers(TopicName topic) {
        int kept = 0;
        for (int i = 0; i < size; i++) {
            Subscription next = subscriptions[i];
            if (next.subscriber().takes(topic)) {
                subscriptions[kept++] = next;
            }
        }
        truncate(kept);
    }

    private void mergePairwise() {
        int kept = 0;
        for (int i = 0; i < size; i++) {
            Subscription next = subscriptions[i];
            int same = 0;
            while (same < kept && subscriptions[same].subscriber() != next.subscriber()) {
                same++;
            }
            if (same < kept) {
                subscriptions[same] = subscriptions[same].merge(next);
            } else {
                subscriptions[kept++] = next;
            }
        }
        truncate(kept);
    }

    private void mergeByTable() {
        int length = Integer.highestOneBit(size) * 4;
        if (places.length < length) {
            places = new int[length];
        }
        int kept = 0;
        for (int i = 0; i < size; i++) {
            Subscription next = subscriptions[i];
            int at = placeOf(next.subscriber(), length - 1);
            if (places[at] == 0) {
                subscriptions[kept++] = next;
                places[at] = kept;
            } else {
                int same = places[at] - 1;
                subscriptions[same] = subscriptions[same].merge(next);
            }
        }
        truncate(kept);
        Arrays.fill(places, 0, length, 0);
    }

    /** The slot with the position of a subscriber plus one, or the empty slot for it. */
    private int placeOf(Subscriber subscriber, int mask) {
        int hash = System.identityHashCode(subscriber) * 0x9E3779B9;
        int at = (hash ^ hash >>> 15) & mask;
        while (places[at] != 0 && subscriptions[places[at] - 1].subscriber() != subscriber) {
            at = (at + 1) & mask;
        }
        return at;
    }

    private void truncate(int kept) {
        Arrays.fill(subscriptions, kept, size, null);
        size = kept;
    }

    /** The results of recent matches; null if they are not remembered. */
    @Nullable
    RecentMatches recent() {
        return recent;
    }

    /** Copies the subscriptions. */
    Subscription[] subscriptions() {
        return Arrays.copyOf(subscriptions, size);
    }

    /** The number of filters of the subscriptions. */
    int filters() {
        return filters;
    }

    /** Copies the groups. */
    SharedGroup[] groups() {
        return Arrays.copyOf(groups, sharedSize);
    }

    /** Fills an empty result with a few subscriptions of a number of filters, and a few groups. */
    void set(Subscription[] remembered, int ofFilters, SharedGroup[] rememberedGroups) {
        for (Subscription subscription : remembered) {
            add(subscription);
        }
        filters = ofFilters;
        for (SharedGroup group : rememberedGroups) {
            add(group);
        }
    }

    void add(Subscription subscription) {
        ensureCapacity(size + 1);
        subscriptions[size++] = subscription;
        filters++;
    }

    /** Adds the members of one filter, a snapshot of a {@link MemberList}. */
    void addAll(Object[] members) {
        if (members.length == 0) {
            return;
        }
        filters++;
        ensureCapacity(size + MemberList.size(members));
        if (members instanceof Subscription[][] chunks) {
            for (Subscription[] chunk : chunks) {
                copy(chunk);
            }
        } else {
            copy(members);
        }
    }

    void add(SharedGroup group) {
        if (sharedSize == groups.length) {
            groups = Arrays.copyOf(groups, sharedSize * 2);
        }
        groups[sharedSize++] = group;
    }

    TopicScan scan(TopicName topic) {
        scan.reset(topic.value());
        return scan;
    }

    /** Adds a node to visit, with the number of levels above it. */
    void push(TrieNode node, int level) {
        if (waiting == nodes.length) {
            nodes = Arrays.copyOf(nodes, waiting * 2);
            levels = Arrays.copyOf(levels, waiting * 2);
        }
        nodes[waiting] = node;
        levels[waiting++] = level;
    }

    boolean hasNode() {
        return waiting > 0;
    }

    /** The level of the node that {@link #popNode()} returns next. */
    int topLevel() {
        return levels[waiting - 1];
    }

    @SuppressWarnings("NullAway") // the slot is filled; emptying it drops the reference
    TrieNode popNode() {
        TrieNode node = nodes[--waiting];
        nodes[waiting] = null;
        return node;
    }

    private void copy(Object[] members) {
        System.arraycopy(members, 0, subscriptions, size, members.length);
        size += members.length;
    }

    private void ensureCapacity(int needed) {
        if (needed > subscriptions.length) {
            subscriptions = Arrays.copyOf(subscriptions, Math.max(needed, subscriptions.length * 2));
        }
    }
}
