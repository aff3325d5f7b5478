// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

import java.nio.charset.StandardCharsets;

/** A topic filter, with or without wildcards, without a share name (MQTT 5.0, section 4.7). Immutable. */
public final class TopicFilter {

    private final String value;

    private TopicFilter(String value) {
        this.value = value;
    }

    /**
     * Validates a topic filter.
     *
     * @param value at least one character; # only as the last level, + only as a whole level; at most 65,535 bytes
     * @return the filter
     * @throws InvalidTopicException if the text is not a topic filter
     */
    public static TopicFilter of(String value) {
        TopicRules.requireTopicFilter(value);
        if (value.length() > TopicRules.MAXIMUM_BYTES / 3) {
            TopicRules.requireLength(value.getBytes(StandardCharsets.UTF_8).length);
        }
        return new TopicFilter(value);
    }

    /**
     * The text.
     *
     * @return never empty
     */
    public String value() {
        return value;
    }

    /**
     * Whether the filter has a wildcard.
     *
     * @return true if it contains + or #
     */
    public boolean hasWildcard() {
        return value.indexOf('+') >= 0 || value.indexOf('#') >= 0;
    }

    /**
     * Matches one topic name, level by level. For access rules and checks; routing uses an index.
     *
     * @param topic a topic name
     * @return true if the filter matches
     */
    public boolean matches(TopicName topic) {
        if (topic.isReserved() && (value.charAt(0) == '+' || value.charAt(0) == '#')) { // [MQTT-4.7.2-1]
            return false;
        }
        return TopicMatching.covers(value, topic.value());
    }

    /**
     * Whether every topic name that the other filter matches is matched by this one too.
     *
     * @param other the narrower filter
     * @return true if this filter covers the other
     */
    public boolean covers(TopicFilter other) {
        char first = other.value.charAt(0);
        if (first == '$' && (value.charAt(0) == '+' || value.charAt(0) == '#')) { // [MQTT-4.7.2-1]
            return false;
        }
        return TopicMatching.covers(value, other.value);
    }

    @Override
    public boolean equals(Object other) {
        return this == other || (other instanceof TopicFilter filter && filter.value.equals(value));
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public String toString() {
        return value;
    }
}
