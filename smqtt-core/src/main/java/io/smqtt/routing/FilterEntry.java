// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.config.SharedStrategy;
import io.smqtt.topic.TopicFilter;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions to one filter, if they are more than one plain subscription. Changed only under the lock of the index; read
 * by any thread without a lock.
 *
 * <p>The leaf of a filter is null, a single {@link Subscription}, or an entry. The static methods handle null and single
 * subscriptions, so a filter with one subscriber, the usual case, needs no entry object.
 */
final class FilterEntry {

    private static final SharedGroup[] NO_GROUPS = {};

    private final TopicFilter filter;
    private final MemberList plain = new MemberList();
    private volatile SharedGroup[] groups = NO_GROUPS;

    private FilterEntry(TopicFilter filter) {
        this.filter = filter;
    }

    /** The text of a leaf's filter. */
    static String text(Object leaf) {
        TopicFilter filter = leaf instanceof Subscription one ? one.filter() : ((FilterEntry) leaf).filter;
        return filter.value();
    }

    /** The subscription of a subscriber in a leaf; null if there is none. */
    static @Nullable Subscription find(@Nullable Object leaf, Subscriber subscriber, @Nullable String shareName) {
        if (leaf instanceof Subscription one) {
            return shareName == null && one.subscriber() == subscriber ? one : null;
        }
        if (leaf == null) {
            return null;
        }
        FilterEntry entry = (FilterEntry) leaf;
        if (shareName == null) {
            return entry.plain.find(subscriber);
        }
        SharedGroup group = entry.group(shareName);
        return group == null ? null : group.members().find(subscriber);
    }

    /** The leaf with a subscription added or replaced; takes the place of the former leaf. */
    static Object with(@Nullable Object leaf, Subscription added, SharedStrategy strategy) {
        if (added.shareName() == null && (leaf == null || isOf(leaf, added.subscriber()))) {
            return added;
        }
        FilterEntry entry = leaf instanceof FilterEntry existing ? existing : new FilterEntry(added.filter());
        if (leaf instanceof Subscription one) {
            entry.plain.put(one);
        }
        if (added.shareName() == null) {
            entry.plain.put(added);
        } else {
            entry.addMember(added, added.shareName(), strategy);
        }
        return entry;
    }

    /** The leaf without a subscription that {@link #find} has found; takes the place of the former leaf. */
    static @Nullable Object without(Object leaf, Subscriber subscriber, @Nullable String shareName) {
        if (!(leaf instanceof FilterEntry entry)) {
            return null;
        }
        if (shareName == null) {
            entry.plain.remove(subscriber);
        } else {
            entry.removeMember(subscriber, shareName);
        }
        Object[] left = entry.plain.snapshot();
        if (entry.groups.length > 0 || left.length > 1) {
            return entry;
        }
        return left.length == 0 ? null : MemberList.get(left, 0);
    }

    /** Adds the subscriptions of a leaf to the result of a match. */
    static void collect(Object leaf, Matches into) {
        if (leaf instanceof Subscription one) {
            into.add(one);
        } else {
            FilterEntry entry = (FilterEntry) leaf;
            into.addAll(entry.plain.snapshot());
            for (SharedGroup group : entry.groups) {
                into.add(group);
            }
        }
    }

    /** Calls an action with each subscription of a leaf. */
    static void forEach(Object leaf, Consumer<? super Subscription> action) {
        if (leaf instanceof Subscription one) {
            action.accept(one);
        } else {
            FilterEntry entry = (FilterEntry) leaf;
            forEachMember(entry.plain, action);
            for (SharedGroup group : entry.groups) {
                forEachMember(group.members(), action);
            }
        }
    }

    private static void forEachMember(MemberList members, Consumer<? super Subscription> action) {
        Object[] snapshot = members.snapshot();
        for (int i = 0, size = MemberList.size(snapshot); i < size; i++) {
            action.accept(MemberList.get(snapshot, i));
        }
    }

    @Nullable
    SharedGroup group(String shareName) {
        for (SharedGroup group : groups) {
            if (group.shareName().equals(shareName)) {
                return group;
            }
        }
        return null;
    }

    private static boolean isOf(Object leaf, Subscriber subscriber) {
        return leaf instanceof Subscription one && one.subscriber() == subscriber;
    }

    private void addMember(Subscription member, String shareName, SharedStrategy strategy) {
        SharedGroup group = group(shareName);
        if (group != null) {
            group.members().put(member);
            return;
        }
        SharedGroup created = new SharedGroup(shareName, filter, strategy);
        created.members().put(member);
        SharedGroup[] more = Arrays.copyOf(groups, groups.length + 1);
        more[groups.length] = created;
        groups = more;
    }

    private void removeMember(Subscriber subscriber, String shareName) {
        SharedGroup group = group(shareName);
        if (group == null) {
            return;
        }
        group.members().remove(subscriber);
        if (group.members().isEmpty()) {
            groups = Arrays.stream(groups).filter(other -> other != group).toArray(SharedGroup[]::new);
        }
    }
}
