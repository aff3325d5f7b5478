// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * The results of recent matches of one event loop, for topics that are published to again and again. A result is valid for one version
 * of the index: the first match after a change forgets all of them, and so does a sweep. A topic is remembered from its second match on. Topics
 * are compared by identity: the decoder gives the same instance for a topic that it knows.
 *
 * <p>Bounded: at most {@value #SLOTS} topics of {@value #LONGEST} bytes, with at most {@value #LARGEST} subscriptions and groups each. Not
 * thread-safe.
 */
final class RecentMatches {

    private static final int SLOTS = 4_096;

    /** The decoder does not know longer topics again; they would only be held. */
    private static final int LONGEST = 256;

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
        if (forgetFormer(current)) {
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

    /** Forgets the results if the index has changed since; returns whether it has. */
    boolean forgetFormer(long current) {
        if (current == version) {
            return false;
        }
        forget();
        version = current;
        return true;
    }

    /** Takes note of a topic that was matched, and of the result if it is not the first time. */
    void matched(TopicName topic, Matches found) {
        if (topic.utf8().length > LONGEST) {
            return;
        }
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

    /** The number of results. */
    int size() {
        return filledCount;
    }

    /** Whether there is a reference to a topic. */
    boolean holds(TopicName topic) {
        return topics[slot(topic)] == topic;
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
