// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

import java.nio.charset.StandardCharsets;

/**
 * A topic name: the label of an application message, without wildcards (MQTT 5.0, section 4.7). Immutable. Has both the text, which routing
 * looks up, and the UTF-8 form, which is forwarded unchanged.
 */
public final class TopicName {

    private final String value;
    private final byte[] utf8;

    private TopicName(String value, byte[] utf8) {
        this.value = value;
        this.utf8 = utf8;
    }

    /**
     * Validates a topic name.
     *
     * @param value at least one character, no wildcard, no U+0000, no half of a surrogate pair, at most 65,535 bytes of UTF-8
     * @return the topic name
     * @throws InvalidTopicException if the text is not a topic name
     */
    public static TopicName of(String value) {
        TopicRules.requireTopicName(value);
        TopicRules.requirePairs(value);
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        TopicRules.requireLength(utf8.length);
        return new TopicName(value, utf8);
    }

    /**
     * Creates a topic name from bytes that the packet decoder has already validated as strict UTF-8.
     *
     * @param utf8 the bytes; not copied, not to be changed afterwards
     * @return the topic name
     * @throws InvalidTopicException if the text is empty or contains a wildcard
     */
    public static TopicName ofUtf8(byte[] utf8) {
        String value = new String(utf8, StandardCharsets.UTF_8);
        TopicRules.requireTopicName(value);
        return new TopicName(value, utf8);
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
     * The UTF-8 form, for encoders.
     *
     * @return the array itself: not to be changed
     */
    public byte[] utf8() {
        return utf8;
    }

    /**
     * Whether the name begins with $; filters that begin with a wildcard do not match it.
     *
     * @return true for names such as $SYS/…
     */
    public boolean isReserved() {
        return value.charAt(0) == '$';
    }

    @Override
    public boolean equals(Object other) {
        return this == other || (other instanceof TopicName name && name.value.equals(value));
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
