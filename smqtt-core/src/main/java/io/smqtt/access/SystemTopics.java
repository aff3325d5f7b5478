// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

/** The topics that belong to the broker, not to its clients. Filters that begin with a wildcard never reach them. */
final class SystemTopics {

    private SystemTopics() {}

    /** Tells whether a topic name or filter is one by which the broker tells of itself: $SYS, $event, or below them. */
    static boolean isStatus(String topic) {
        return isBelow("$SYS", topic) || isBelow("$event", topic);
    }

    /** Tells whether a topic name or filter is $CONTROL or below it. */
    static boolean isControl(String topic) {
        return isBelow("$CONTROL", topic);
    }

    private static boolean isBelow(String root, String topic) {
        return topic.startsWith(root) && (topic.length() == root.length() || topic.charAt(root.length()) == '/');
    }
}
