// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * The last rewritten topic of a connection: clients often publish to the same one.
 *
 * @param rules the rules that gave the new name, by their identity; others may give another one
 * @param topic the topic of a PUBLISH
 * @param rewritten its new name, or the same object; null if the new name is no topic name
 */
record RewrittenTopic(
        Object rules, TopicName topic, @Nullable TopicName rewritten) {

    boolean isOf(Object present, TopicName other) {
        return rules == present && (topic == other || topic.equals(other));
    }
}
