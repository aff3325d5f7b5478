// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.BridgeTopic;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The names that topics have at the other side. The first rule that fits decides. Immutable. */
@AnyThread
final class TopicMap {

    private final List<Rule> out;
    private final List<Rule> in;
    private final int growth;

    private record Rule(TopicFilter filter, String from, String to) {}

    TopicMap(List<BridgeTopic> topics) {
        out = topics.stream()
                .filter(BridgeTopic::out)
                .map(topic -> new Rule(topic.local(), topic.localPrefix(), topic.remotePrefix()))
                .toList();
        in = topics.stream()
                .filter(BridgeTopic::in)
                .map(topic -> new Rule(topic.remote(), topic.remotePrefix(), topic.localPrefix()))
                .toList();
        growth = topics.stream()
                .mapToInt(topic -> Math.max(
                                topic.localPrefix().length(),
                                topic.remotePrefix().length())
                        * 3)
                .max()
                .orElse(0);
    }

    /** The most bytes by which a name grows. */
    int growth() {
        return growth;
    }

    /** The name at the other broker; null if the topic is not forwarded. */
    @Nullable
    String out(String topic) {
        return mapped(out, topic);
    }

    /** The name at this broker; null if the topic is not forwarded. */
    @Nullable
    String in(String topic) {
        return mapped(in, topic);
    }

    private static @Nullable String mapped(List<Rule> rules, String topic) {
        TopicName name;
        try {
            name = TopicName.of(topic);
        } catch (InvalidTopicException e) {
            return null;
        }
        for (Rule rule : rules) {
            if (rule.filter.matches(name)) {
                return rule.to + topic.substring(rule.from.length());
            }
        }
        return null;
    }
}
