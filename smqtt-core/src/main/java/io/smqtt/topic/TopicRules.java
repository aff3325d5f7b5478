// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

/** Rules for topic names and topic filters (MQTT 5.0, section 4.7). */
final class TopicRules {

    static final int MAXIMUM_BYTES = 65_535;

    private TopicRules() {}

    static void requireTopicName(String value) {
        requireText(value);
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '+' || c == '#') { // [MQTT-3.3.2-2] [MQTT-4.7.1-1]
                throw new InvalidTopicException("a topic name must not contain a wildcard");
            }
            requireNotNull(c);
        }
    }

    static void requireTopicFilter(String value) {
        requireText(value);
        int length = value.length();
        for (int i = 0; i < length; i++) {
            char c = value.charAt(i);
            boolean first = i == 0 || value.charAt(i - 1) == TopicLevels.SEPARATOR;
            boolean last = i == length - 1;
            if (c == '#' && !(first && last)) { // [MQTT-4.7.1-1]
                throw new InvalidTopicException("# must be the last level of a topic filter");
            }
            if (c == '+' && !(first && (last || value.charAt(i + 1) == TopicLevels.SEPARATOR))) { // [MQTT-4.7.1-2]
                throw new InvalidTopicException("+ must be a whole level of a topic filter");
            }
            requireNotNull(c);
        }
    }

    /** Rejects half of a surrogate pair: UTF-8 cannot represent it, and it would become a question mark. */
    static void requirePairs(String value) {
        int length = value.length();
        for (int i = 0; i < length; i++) {
            char c = value.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean pair =
                        Character.isHighSurrogate(c) && i + 1 < length && Character.isLowSurrogate(value.charAt(i + 1));
                if (!pair) { // [MQTT-1.5.4-1]
                    throw new InvalidTopicException("a topic must not contain half of a surrogate pair");
                }
                i++;
            }
        }
    }

    static void requireLength(int utf8Bytes) {
        if (utf8Bytes > MAXIMUM_BYTES) { // [MQTT-4.7.3-3]
            throw new InvalidTopicException("a topic must not be longer than 65,535 bytes");
        }
    }

    private static void requireText(String value) {
        if (value.isEmpty()) { // [MQTT-4.7.3-1]
            throw new InvalidTopicException("a topic must have at least one character");
        }
    }

    private static void requireNotNull(char c) {
        if (c == 0) { // [MQTT-4.7.3-2]
            throw new InvalidTopicException("a topic must not contain U+0000");
        }
    }
}
