// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.BridgeTopic;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import io.smqtt.topic.TopicTemplate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The names that topics have at the other side. The first rule that fits decides. Immutable. */
@AnyThread
final class TopicMap {

    private final List<Rule> out;
    private final List<Rule> in;
    private final int growth;

    private record Rule(
            TopicFilter filter,
            String from,
            String to,
            @Nullable TopicTemplate template) {

        String name(String topic) {
            if (template == null) {
                return to + topic.substring(from.length());
            }
            String filled = template.fillFromTopic(name -> name.equals("topic") ? topic : wildcard(topic, name));
            return filled == null ? "" : filled;
        }

        /** What the wildcard of a number stands for in a topic that matches; empty for a {@code #} that stands for no level. */
        private String wildcard(String topic, String number) {
            String[] levels = topic.split("/", -1);
            String[] pattern = filter.value().split("/", -1);
            int left = Integer.parseInt(number);
            for (int i = 0; i < pattern.length; i++) {
                boolean rest = pattern[i].equals("#");
                if ((rest || pattern[i].equals("+")) && --left == 0) {
                    return rest
                            ? String.join("/", List.of(levels).subList(Math.min(i, levels.length), levels.length))
                            : levels[i];
                }
            }
            return "";
        }
    }

    TopicMap(List<BridgeTopic> topics) {
        out = topics.stream()
                .filter(BridgeTopic::out)
                .map(topic -> new Rule(topic.local(), topic.localPrefix(), topic.remotePrefix(), topic.template()))
                .toList();
        in = topics.stream()
                .filter(BridgeTopic::in)
                .map(topic -> new Rule(topic.remote(), topic.remotePrefix(), topic.localPrefix(), topic.template()))
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
                String mapped = rule.name(topic);
                return rule.template == null || isName(mapped) ? mapped : null;
            }
        }
        return null;
    }

    private static boolean isName(String topic) {
        try {
            TopicName.of(topic);
            return true;
        } catch (InvalidTopicException e) {
            return false;
        }
    }
}
