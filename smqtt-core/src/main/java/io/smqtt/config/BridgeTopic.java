// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import io.smqtt.topic.TopicTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a bridge forwards, written as mosquitto's {@code topic}: {@code filter direction qos local-prefix remote-prefix}; or {@code filter
 * direction qos => name}, where the name at the other side has the placeholders {@code ${topic}} for the whole topic and {@code $1} to {@code
 * $9} for what the wildcards of the filter stand for.
 *
 * @param filter the topic filter without prefixes
 * @param out whether messages of this broker are sent to the other one
 * @param in whether messages of the other broker are published here
 * @param qos the maximum QoS, 0 to 2
 * @param local the filter with the prefix that its topics have here
 * @param remote the filter with the prefix that its topics have at the other broker
 * @param localPrefix the prefix here, or an empty text
 * @param remotePrefix the prefix at the other broker, or an empty text
 * @param template the name at the other side; null if prefixes make it
 */
public record BridgeTopic(
        String filter,
        boolean out,
        boolean in,
        int qos,
        TopicFilter local,
        TopicFilter remote,
        String localPrefix,
        String remotePrefix,
        @Nullable TopicTemplate template) {

    private static final String ARROW = "=>";
    private static final String KEY = "bridges.<name>.topics";

    /** Reads one entry. */
    static BridgeTopic parse(String text) {
        List<String> all = List.of(text.strip().split("[ \t]+"));
        int arrow = all.indexOf(ARROW);
        Check.that(
                arrow < 0 || (arrow <= 3 && arrow == all.size() - 2),
                KEY,
                "must hold `filter direction qos => name`, with one name and no prefixes");
        List<String> words = arrow < 0 ? all : all.subList(0, arrow);
        Check.that(
                !words.isEmpty() && !words.get(0).isEmpty() && words.size() <= 5,
                KEY,
                "must hold `filter direction qos local-prefix remote-prefix`, of which only the filter is required");
        String filter = words.get(0);
        String direction = word(words, 1, "out").toLowerCase(Locale.ROOT);
        Check.that(
                List.of("out", "in", "both").contains(direction), KEY, "has a direction that is not out, in or both");
        String qos = word(words, 2, "0");
        Check.that(List.of("0", "1", "2").contains(qos), KEY, "has a QoS that is not 0, 1 or 2");
        Check.that(
                arrow < 0 || !direction.equals("both"),
                KEY,
                "has a name after => with direction both; write two entries");
        String local = prefix(words, 3);
        String remote = prefix(words, 4);
        return new BridgeTopic(
                filter,
                !direction.equals("in"),
                !direction.equals("out"),
                Integer.parseInt(qos),
                topic(local, filter),
                topic(remote, filter),
                local,
                remote,
                arrow < 0 ? null : template(filter, all.get(arrow + 1)));
    }

    /**
     * Returns the same without what comes in.
     *
     * @return a topic with out as its only direction, if it has that
     */
    public BridgeTopic withoutIn() {
        return new BridgeTopic(filter, out, false, qos, local, remote, localPrefix, remotePrefix, template);
    }

    private static TopicTemplate template(String filter, String name) {
        List<String> names = new ArrayList<>(List.of("topic"));
        long wildcards = filter.chars().filter(c -> c == '+' || c == '#').count();
        for (int i = 1; i <= Math.min(9, wildcards); i++) {
            names.add(Integer.toString(i));
        }
        TopicTemplate template = Check.template(KEY, name, names);
        try {
            TopicName.of(String.valueOf(template.fillFromTopic(value -> "a")));
        } catch (InvalidTopicException e) {
            throw new ConfigurationException(KEY, "has no topic name after =>: " + name);
        }
        return template;
    }

    private static String word(List<String> words, int at, String absent) {
        return words.size() > at ? words.get(at) : absent;
    }

    private static String prefix(List<String> words, int at) {
        String prefix = word(words, at, "");
        return prefix.equals("\"\"") ? "" : prefix;
    }

    private static TopicFilter topic(String prefix, String filter) {
        String text = prefix + filter;
        boolean plain = prefix.indexOf('+') < 0 && prefix.indexOf('#') < 0;
        Check.that(plain, KEY, "has a prefix with a wildcard: " + prefix);
        Check.that(!SharedFilter.isShared(text), KEY, "cannot be shared subscriptions: " + text);
        try {
            return TopicFilter.of(text);
        } catch (InvalidTopicException e) {
            throw new ConfigurationException(KEY, "has no topic filter: " + text);
        }
    }
}
