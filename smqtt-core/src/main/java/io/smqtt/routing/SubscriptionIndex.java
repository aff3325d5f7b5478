// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.config.SharedStrategy;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicLevels;
import io.smqtt.topic.TopicName;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An index of subscriptions: finds all subscriptions that match a topic.
 *
 * <p>Filters without wildcards are in a hash table of their own, where one look-up finds those of a topic. Filters with wildcards
 * are in a trie of levels. At each level a search follows the level itself and {@code +}, so it visits at most 2^levels nodes, and
 * only existing ones. Nothing recurses.
 *
 * <p>Any thread may change the index. Changes are serialized by one lock, which is held for about a microsecond. Matching takes no
 * lock: it finds every subscription that exists from the beginning of the match to its end, and none that does not exist at any
 * time in between.
 *
 * <p>The structure is made for a million filters: a filter with one subscriber is stored as the {@link Subscription} itself in a
 * slot of a table, and a node exists only where filters branch. See {@link TrieNode} and {@link LevelTable}.
 */
@AnyThread
public final class SubscriptionIndex {

    private final SharedStrategy sharedStrategy;
    private final Object lock = new Object();
    private final TrieNode root = new TrieNode("", 0);
    private final LevelTable exact = new LevelTable(0, true);
    private volatile long version;
    private volatile int size;
    private volatile int ownSize;
    private volatile int ownGroups;
    private volatile boolean topicsAreShared;

    /** Called under the lock on each change; null without an observer. */
    private @Nullable SubscriptionObserver observer;

    private @Nullable Consumer<? super SharedFilter> groupEnds;

    // guarded by lock
    private final TopicScan scan = new TopicScan();
    private TrieNode[] path = new TrieNode[16];
    private int pathLength;
    private int nodeCount;

    /** Number of members that are no relays, by group and filter. */
    private final Map<String, Integer> ownMembers = new HashMap<>();

    /**
     * Creates an empty index.
     *
     * @param sharedStrategy how groups of shared subscriptions select a member
     */
    public SubscriptionIndex(SharedStrategy sharedStrategy) {
        this.sharedStrategy = sharedStrategy;
    }

    /**
     * Adds a subscription.
     *
     * @param subscription the subscription
     * @return the one of the same subscriber, filter and share name that it replaces [MQTT-3.8.4-3], or null
     */
    @AnyThread
    public @Nullable Subscription add(Subscription subscription) {
        synchronized (lock) {
            Subscription replaced =
                    subscription.filter().hasWildcard() ? addToTrie(subscription) : addExact(subscription);
            if (replaced == null) {
                size = size + 1;
                countOwn(subscription.subscriber(), subscription.filter(), subscription.shareName(), 1);
                if (observer != null) {
                    observer.added(subscription);
                }
            }
            version = version + 1;
            return replaced;
        }
    }

    /**
     * Removes a subscription.
     *
     * @param subscriber whose it is
     * @param filter its filter
     * @param shareName the share name; null if it is not shared
     * @return false if there is no such subscription
     */
    @AnyThread
    public boolean remove(Subscriber subscriber, TopicFilter filter, @Nullable String shareName) {
        synchronized (lock) {
            boolean removed = filter.hasWildcard()
                    ? removeFromTrie(subscriber, filter.value(), shareName)
                    : removeExact(subscriber, filter.value(), shareName);
            if (removed) {
                size = size - 1;
                countOwn(subscriber, filter, shareName, -1);
                version = version + 1;
                if (observer != null) {
                    observer.removed(subscriber, filter, shareName);
                }
                if (shareName != null) {
                    endIfEmpty(new SharedFilter(shareName, filter));
                }
            }
            return removed;
        }
    }

    /** Called under the lock. */
    private void countOwn(Subscriber subscriber, TopicFilter filter, @Nullable String shareName, int change) {
        if (subscriber.isRelay()) {
            return;
        }
        ownSize = ownSize + change;
        if (shareName != null) {
            ownMembers.merge(
                    shareName + TopicLevels.SEPARATOR + filter.value(),
                    change,
                    (before, more) -> before + more == 0 ? null : before + more);
            ownGroups = ownMembers.size();
        }
    }

    /**
     * Passes all subscriptions to an observer, and then every change, in order and without a gap. There is at most one observer.
     *
     * @param next called under the lock of the index
     * @throws IllegalStateException if there is already one
     */
    public void observe(SubscriptionObserver next) {
        synchronized (lock) {
            if (observer != null) {
                throw new IllegalStateException("the index already has an observer");
            }
            observer = next;
            forEach(next::added);
        }
    }

    /**
     * Sets an action for shared groups whose last member has left. There is at most one.
     *
     * @param action called under the lock of the index
     */
    public void whenGroupEnds(Consumer<? super SharedFilter> action) {
        synchronized (lock) {
            groupEnds = action;
        }
    }

    /**
     * Reports the end of a group if it has no members.
     *
     * @param name the group
     */
    public void endIfEmpty(SharedFilter name) {
        synchronized (lock) {
            if (groupEnds != null && group(name.shareName(), name.filter()) == null) {
                groupEnds.accept(name);
            }
        }
    }

    /**
     * Announces subscribers that do not take each topic of their filters ({@link Subscriber#takes}). Called before the first of them subscribes.
     */
    @AnyThread
    public void topicsAreShared() {
        topicsAreShared = true;
    }

    /**
     * Finds the subscriptions that match a topic. Allocates nothing once the result has grown.
     *
     * @param topic the topic name
     * @param into the result; its former content is cleared. The same subscriber may be in it several times, see
     *     {@link Matches#mergeOverlaps}
     */
    @AnyThread
    public void match(TopicName topic, Matches into) {
        into.clear();
        RecentMatches recent = into.recent();
        if (recent == null) {
            find(topic, into);
        } else if (!recent.recall(topic, version, into)) { // the version of before the search
            find(topic, into);
            recent.matched(topic, into);
        }
    }

    /** Searches, and leaves out subscribers that do not take the topic. */
    private void find(TopicName topic, Matches into) {
        search(topic, into);
        if (topicsAreShared) {
            into.retainTakers(topic);
        }
    }

    private void search(TopicName topic, Matches into) {
        TopicScan levels = into.scan(topic);
        String text = levels.text();
        Object found = exact.find(levels.hash(), text, 0, text.length());
        if (found != null) {
            FilterEntry.collect(found, into);
        }
        if (root.isEmpty()) {
            return;
        }
        into.push(root, 0);
        while (into.hasNode()) {
            int level = into.topLevel();
            visit(into.popNode(), level, levels, into);
        }
    }

    /**
     * The group of a shared subscription, for a message that needs another member. Takes the lock.
     *
     * @param subscription a present or former member's subscription
     * @return null if the subscription is not shared or the group has no members
     */
    @AnyThread
    public @Nullable SharedGroup group(Subscription subscription) {
        String shareName = subscription.shareName();
        return shareName == null ? null : group(shareName, subscription.filter());
    }

    /**
     * A group of shared subscriptions. Takes the lock.
     *
     * @param shareName the name of the group
     * @param filter the shared filter
     * @return null if it has no members
     */
    @AnyThread
    public @Nullable SharedGroup group(String shareName, TopicFilter filter) {
        synchronized (lock) {
            Object leaf = filter.hasWildcard() ? findInTrie(filter.value()) : findExact(filter.value());
            clearPath();
            return leaf instanceof FilterEntry entry ? entry.group(shareName) : null;
        }
    }

    /**
     * The number of changes so far. The result of a match is valid as long as this value is the same as before the match.
     *
     * @return a number that grows with each change
     */
    @AnyThread
    public long version() {
        return version;
    }

    /**
     * The number of subscriptions, shared ones and those of relays included.
     *
     * @return subscriptions
     */
    @AnyThread
    public int size() {
        return size;
    }

    /**
     * The number of subscriptions of subscribers that are no relays, shared ones included. In constant time.
     *
     * @return subscriptions of clients and consumers of this broker
     */
    @AnyThread
    public int ownSize() {
        return ownSize;
    }

    /**
     * The number of shared groups that have a member that is no relay: distinct filters with a share name. In constant time.
     *
     * @return groups of clients and consumers of this broker
     */
    @AnyThread
    public int ownGroups() {
        return ownGroups;
    }

    /**
     * Calls an action with each subscription, in no order. Subscriptions that are added or removed at the same time may be included or
     * not.
     *
     * @param action called with each subscription, on this thread
     */
    @AnyThread
    public void forEach(Consumer<? super Subscription> action) {
        exact.forEach(leaf -> FilterEntry.forEach(leaf, action));
        Deque<TrieNode> waiting = new ArrayDeque<>();
        waiting.push(root);
        while (!waiting.isEmpty()) {
            waiting.pop().forEach(found -> {
                if (found instanceof TrieNode node) {
                    waiting.push(node);
                } else {
                    FilterEntry.forEach(found, action);
                }
            });
        }
    }

    /** Number of nodes of the trie, without the root. */
    int nodeCount() {
        synchronized (lock) {
            return nodeCount;
        }
    }

    /** Number of slots of the table of filters without wildcards. */
    int exactCapacity() {
        synchronized (lock) {
            return exact.capacity();
        }
    }

    private static void visit(TrieNode node, int level, TopicScan topic, Matches into) {
        boolean allowed = level > 0 || topic.text().charAt(0) != '$'; // [MQTT-4.7.2-1]
        Object below = node.hash();
        if (below != null && allowed) {
            FilterEntry.collect(below, into);
        }
        if (level == topic.count()) {
            Object here = node.here();
            if (here != null) {
                FilterEntry.collect(here, into);
            }
            return;
        }
        Object any = node.plus();
        if (any != null && allowed) {
            follow(any, node.childStart() + 1, level + 1, topic, into);
        }
        int start = topic.start(level);
        int end = topic.end(level);
        Object child = node.child(topic.hash(level), topic.text(), start, end);
        if (child != null) {
            follow(child, node.childStart() + end - start, level + 1, topic, into);
        }
    }

    private static void follow(Object found, int position, int level, TopicScan topic, Matches into) {
        if (found instanceof TrieNode node) {
            into.push(node, level);
        } else if (topic.matchesRest(FilterEntry.text(found), position, level)) {
            FilterEntry.collect(found, into);
        }
    }

    private @Nullable Subscription addExact(Subscription subscription) {
        String filter = subscription.filter().value();
        Object leaf = findExact(filter);
        Subscription replaced = FilterEntry.find(leaf, subscription.subscriber(), subscription.shareName());
        Object changed = FilterEntry.with(leaf, subscription, sharedStrategy);
        if (leaf == null) {
            exact.add(scan.hash(), changed);
        } else if (changed != leaf) {
            exact.put(scan.hash(), filter, 0, filter.length(), changed);
        }
        return replaced;
    }

    private boolean removeExact(Subscriber subscriber, String filter, @Nullable String shareName) {
        Object leaf = findExact(filter);
        if (leaf == null || FilterEntry.find(leaf, subscriber, shareName) == null) {
            return false;
        }
        Object changed = FilterEntry.without(leaf, subscriber, shareName);
        if (changed == null) {
            exact.remove(scan.hash(), filter, 0, filter.length());
        } else if (changed != leaf) {
            exact.put(scan.hash(), filter, 0, filter.length(), changed);
        }
        return true;
    }

    private @Nullable Object findExact(String filter) {
        scan.reset(filter);
        return exact.find(scan.hash(), filter, 0, filter.length());
    }

    private @Nullable Subscription addToTrie(Subscription subscription) {
        String filter = subscription.filter().value();
        scan.reset(filter);
        TrieNode node = root;
        int level = 0;
        Object found = get(node, level);
        while (found != null
                && (found instanceof TrieNode || !FilterEntry.text(found).equals(filter))) {
            if (found instanceof TrieNode below) {
                node = below;
            } else { // two filters branch here or further down: each step leaves a complete structure
                TrieNode split = new TrieNode(filter, scan.end(level) + 1);
                split.place(found);
                put(node, level, split);
                nodeCount++;
                node = split;
            }
            level++;
            found = get(node, level);
        }
        Subscription replaced = FilterEntry.find(found, subscription.subscriber(), subscription.shareName());
        Object changed = FilterEntry.with(found, subscription, sharedStrategy);
        if (changed != found) {
            put(node, level, changed);
        }
        return replaced;
    }

    private boolean removeFromTrie(Subscriber subscriber, String filter, @Nullable String shareName) {
        Object leaf = findInTrie(filter);
        boolean present = leaf != null && FilterEntry.find(leaf, subscriber, shareName) != null;
        if (leaf != null && present) {
            Object changed = FilterEntry.without(leaf, subscriber, shareName);
            if (changed != leaf) {
                put(path[pathLength - 1], pathLength - 1, changed);
            }
            if (changed == null) {
                prune();
            }
        }
        clearPath();
        return present;
    }

    /** The leaf of a filter; {@link #path} gets the nodes that lead to it. */
    private @Nullable Object findInTrie(String filter) {
        scan.reset(filter);
        if (path.length <= scan.count()) {
            path = new TrieNode[scan.count() * 2];
        }
        path[0] = root;
        pathLength = 1;
        Object found = get(root, 0);
        while (found instanceof TrieNode below) {
            path[pathLength] = below;
            found = get(below, pathLength++);
        }
        return found != null && FilterEntry.text(found).equals(filter) ? found : null;
    }

    /** Removes the nodes of the path that are empty, and replaces those that have only one leaf by that leaf. */
    private void prune() {
        for (int level = pathLength - 1; level > 0; level--) {
            Object sole = path[level].soleLeaf();
            if (sole == null && !path[level].isEmpty()) {
                return;
            }
            put(path[level - 1], level - 1, sole);
            nodeCount--;
        }
    }

    @SuppressWarnings("NullAway") // slots beyond the path are empty
    private void clearPath() {
        Arrays.fill(path, 0, pathLength, null);
        pathLength = 0;
    }

    /** The child or leaf of a node at a level of the scanned filter. */
    private @Nullable Object get(TrieNode node, int level) {
        return switch (kind(level)) {
            case 0 -> node.here();
            case '#' -> node.hash();
            case '+' -> node.plus();
            default -> node.child(scan.hash(level), scan.text(), scan.start(level), scan.end(level));
        };
    }

    private void put(TrieNode node, int level, @Nullable Object value) {
        switch (kind(level)) {
            case 0 -> node.setHere(value);
            case '#' -> node.setHash(value);
            case '+' -> node.setPlus(value);
            default -> {
                if (value == null) {
                    node.removeChild(scan.hash(level), scan.text(), scan.start(level), scan.end(level));
                } else {
                    node.putChild(scan.hash(level), scan.text(), scan.start(level), scan.end(level), value);
                }
            }
        }
    }

    /** 0 if the scanned filter ends before a level, the wildcard if the level is one, else any other character. */
    private char kind(int level) {
        if (level == scan.count()) {
            return 0;
        }
        int start = scan.start(level);
        return start == scan.end(level) ? TopicLevels.SEPARATOR : scan.text().charAt(start);
    }
}
