// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * The topic of a message that is to be published later: {@code $delayed/SECONDS/TOPIC}, or {@code $delay/SECONDS/TOPIC}.
 *
 * @param seconds the delay
 * @param topic the topic to which the message is published
 */
record DelayedTopic(long seconds, TopicName topic) {

    /** The delay of a message that is published at once. */
    static final long NONE = -1;

    private static final String PREFIX = "$delayed/";
    private static final String EARLIER_PREFIX = "$delay/";

    /** As many digits as any delay in range has: longer numbers need not be read. */
    private static final int MAX_DIGITS = 10;

    /** The length of the prefix; 0 for the topic of a message that is published at once. */
    static int prefixLength(String topic) {
        if (topic.startsWith(PREFIX)) {
            return PREFIX.length();
        }
        return topic.startsWith(EARLIER_PREFIX) ? EARLIER_PREFIX.length() : 0;
    }

    /** Parses a topic; null if it has no delay in range, or no topic after it. */
    static @Nullable DelayedTopic of(String text, int prefixLength, long maxSeconds) {
        int slash = text.indexOf('/', prefixLength);
        if (slash <= prefixLength || slash - prefixLength > MAX_DIGITS) {
            return null;
        }
        long seconds = 0;
        for (int i = prefixLength; i < slash; i++) {
            char digit = text.charAt(i);
            if (digit < '0' || digit > '9') {
                return null;
            }
            seconds = seconds * 10 + (digit - '0');
        }
        if (seconds > maxSeconds) {
            return null;
        }
        try {
            return new DelayedTopic(seconds, TopicName.of(text.substring(slash + 1)));
        } catch (InvalidTopicException e) {
            return null;
        }
    }
}
