// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.config.SharedStrategy;
import io.smqtt.topic.TopicFilter;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All that is subscribed to one filter, when that is more than one plain subscription. Changed under the lock of the
 * index only; read by any thread without one.
 *
 * <p>Where the structure has a place for a filter, there stands nothing, one {@link Subscription} by itself, or an entry:
 * the static methods deal with the first two, so that the usual filter with one subscriber costs no object at all.
 */
final class FilterEntry {

    private static final SharedGroup[] NO_GROUPS = {};

    private final TopicFilter filter;
    private final MemberList plain = new MemberList();
    private volatile SharedGroup[] groups = NO_GROUPS;

    private FilterEntry(TopicFilter filter) {
        this.filter = filter;
    }

    /** The text of the filter of a subscription or an entry. */
    static String text(Object leaf) {
        TopicFilter filter = leaf instanceof Subscription one ? one.filter() : ((FilterEntry) leaf).filter;
        return filter.value();
    }

    /** The subscription of a subscriber that a leaf holds, if any. */
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

    /** The leaf to put where one stood, with a subscription added to it or replaced in it. */
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
            entry.join(added, added.shareName(), strategy);
        }
        return entry;
    }

    /** The leaf to put where one stood, without a subscription that {@link #find} has found in it. */
    static @Nullable Object without(Object leaf, Subscriber subscriber, @Nullable String shareName) {
        if (!(leaf instanceof FilterEntry entry)) {
            return null;
        }
        if (shareName == null) {
            entry.plain.remove(subscriber);
        } else {
            entry.leave(subscriber, shareName);
        }
        Object[] left = entry.plain.snapshot();
        if (entry.groups.length > 0 || left.length > 1) {
            return entry;
        }
        return left.length == 0 ? null : MemberList.get(left, 0);
    }

    /** Adds what a leaf holds to the result of a match. */
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

    /** Shows each subscription of a leaf. */
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

    private void join(Subscription member, String shareName, SharedStrategy strategy) {
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

    private void leave(Subscriber subscriber, String shareName) {
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
