// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

/** Compares a filter with a topic name or a narrower filter, level by level. */
final class TopicMatching {

    private TopicMatching() {}

    /** Whether the filter matches all topics of the other text, which is a name or a filter. */
    static boolean covers(String filter, String other) {
        TopicLevels wide = new TopicLevels().reset(filter);
        TopicLevels narrow = new TopicLevels().reset(other);
        while (wide.next()) {
            char first = wide.end() > wide.start() ? filter.charAt(wide.start()) : 0;
            if (first == '#') { // also the parent level [MQTT-4.7.1-2]
                return true;
            }
            if (!narrow.next()) {
                return false;
            }
            if (!levelCovers(filter, wide, first, other, narrow)) {
                return false;
            }
            if (narrow.isLast() && !wide.isLast()) {
                return isHashAfter(filter, wide);
            }
        }
        return !narrow.next();
    }

    private static boolean levelCovers(String filter, TopicLevels wide, char first, String other, TopicLevels narrow) {
        int length = narrow.end() - narrow.start();
        boolean narrowIsHash = length == 1 && other.charAt(narrow.start()) == '#';
        if (first == '+') {
            return !narrowIsHash;
        }
        return wide.end() - wide.start() == length && filter.regionMatches(wide.start(), other, narrow.start(), length);
    }

    private static boolean isHashAfter(String filter, TopicLevels wide) {
        return filter.length() == wide.end() + 2 && filter.charAt(wide.end() + 1) == '#';
    }
}
