// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.basic;

import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * Topic names that were made lately, so that a text which comes again is neither checked nor encoded again. Each text has one place, which the last one
 * has; threads that do not see what another one has put there make the name once more.
 */
@AnyThread
final class KnownTopics {

    private static final int MOST = 512; // a power of two
    private static final int LONGEST = 128; // characters; longer ones are not kept

    private final @Nullable TopicName[] names = new TopicName[MOST];

    /**
     * The topic name of a text.
     *
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic name
     */
    TopicName get(String text) {
        int hash = text.hashCode();
        int place = (hash ^ (hash >>> 16)) & (MOST - 1);
        TopicName known = names[place];
        if (known != null && known.value().equals(text)) {
            return known;
        }
        TopicName name = TopicName.of(text);
        if (text.length() <= LONGEST) {
            names[place] = name; // immutable, so it may be published by a race
        }
        return name;
    }
}
