// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.List;
import java.util.Locale;

/**
 * What a bridge forwards, written as mosquitto's {@code topic}: {@code filter direction qos local-prefix remote-prefix}.
 *
 * @param filter the topic filter without prefixes
 * @param out whether messages of this broker are sent to the other one
 * @param in whether messages of the other broker are published here
 * @param qos the maximum QoS, 0 to 2
 * @param local the filter with the prefix that its topics have here
 * @param remote the filter with the prefix that its topics have at the other broker
 * @param localPrefix the prefix here, or an empty text
 * @param remotePrefix the prefix at the other broker, or an empty text
 */
public record BridgeTopic(
        String filter,
        boolean out,
        boolean in,
        int qos,
        TopicFilter local,
        TopicFilter remote,
        String localPrefix,
        String remotePrefix) {

    private static final String KEY = "bridges.<name>.topics";

    /** Reads one entry. */
    static BridgeTopic parse(String text) {
        List<String> words = List.of(text.strip().split("[ \t]+"));
        Check.that(
                !words.get(0).isEmpty() && words.size() <= 5,
                KEY,
                "must hold `filter direction qos local-prefix remote-prefix`, of which only the filter is required");
        String filter = words.get(0);
        String direction = word(words, 1, "out").toLowerCase(Locale.ROOT);
        Check.that(
                List.of("out", "in", "both").contains(direction), KEY, "has a direction that is not out, in or both");
        String qos = word(words, 2, "0");
        Check.that(List.of("0", "1", "2").contains(qos), KEY, "has a QoS that is not 0, 1 or 2");
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
                remote);
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
