// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * The results of recent matches of one event loop, for topics that are published to again and again. A result is valid for one version
 * of the index: the first match after a change forgets all of them. A topic is remembered from its second match on, so that topics which
 * come once cost one comparison. Topics are compared by identity: the decoder gives the same instance for a topic that it knows.
 *
 * <p>Bounded: at most {@value #SLOTS} topics, with at most {@value #LARGEST} subscriptions and groups each. Not thread-safe.
 */
final class RecentMatches {

    private static final int SLOTS = 4_096;

    /** Larger results take longer to copy than to find. */
    private static final int LARGEST = 8;

    private final @Nullable TopicName[] topics = new @Nullable TopicName[SLOTS];
    private final @Nullable Result[] results = new @Nullable Result[SLOTS];
    private final short[] filled = new short[SLOTS];
    private int filledCount;
    private long version;

    /** A small result. */
    private record Result(Subscription[] subscriptions, int filters, SharedGroup[] groups) {}

    /**
     * Copies the result of a topic.
     *
     * @param into empty
     * @return false if there is none for this version
     */
    boolean recall(TopicName topic, long current, Matches into) {
        if (current != version) {
            forget();
            version = current;
            return false;
        }
        int slot = slot(topic);
        Result found = topics[slot] == topic ? results[slot] : null;
        if (found == null) {
            return false;
        }
        into.set(found.subscriptions, found.filters, found.groups);
        return true;
    }

    /** Takes note of a topic that was matched, and of the result if it is not the first time. */
    void matched(TopicName topic, Matches found) {
        int slot = slot(topic);
        if (topics[slot] != topic) {
            topics[slot] = topic;
            results[slot] = null;
        } else if (found.size() + found.sharedSize() <= LARGEST) {
            if (filledCount == SLOTS) { // two topics take turns in a slot
                forget();
            }
            results[slot] = new Result(found.subscriptions(), found.filters(), found.groups());
            filled[filledCount++] = (short) slot;
        }
    }

    private void forget() {
        for (int i = 0; i < filledCount; i++) {
            results[filled[i]] = null;
        }
        filledCount = 0;
    }

    private static int slot(TopicName topic) {
        int hash = topic.hashCode() * 0x9E3779B9;
        return (hash ^ hash >>> 16) & (SLOTS - 1);
    }
}
