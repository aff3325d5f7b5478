// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;

/**
 * The part of all topics that one of several sessions takes, by a hash of the topic: it is the same on each node and after each start, so all
 * messages of a topic are in one queue.
 *
 * @param number of the session, from 0
 * @param count of the sessions, at least 1
 */
@AnyThread
public record TopicShare(int number, int count) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the number is negative, or not less than the count
     */
    public TopicShare {
        if (number < 0 || number >= count) {
            throw new IllegalArgumentException("no session " + number + " of " + count);
        }
    }

    /** Whether a topic belongs to this part. */
    boolean has(TopicName topic) {
        int hash = topic.value().hashCode() * 0x9E3779B9; // else topics that end in a number would follow each other
        return Integer.remainderUnsigned(hash ^ hash >>> 16, count) == number;
    }
}
