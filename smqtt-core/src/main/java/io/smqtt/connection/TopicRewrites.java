// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import io.smqtt.config.TopicRewriteConfig;
import io.smqtt.message.Will;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import io.smqtt.topic.TopicTemplate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The rules that give topics of clients another name. The last rule whose source covers a topic decides, alone: if its expression finds nothing,
 * the topic keeps its name. A new name is not rewritten again, so rules cannot build loops. Immutable.
 */
public final class TopicRewrites {

    /** For a client whose names cannot be a part of a topic, or whose new topic would be too long. */
    static final String NO_TOPIC = "the rewritten topic is not valid";

    private final List<Rule> publish;
    private final List<Rule> subscribe;

    private record Rule(TopicFilter source, Pattern pattern, TopicTemplate template) {}

    private TopicRewrites(Collection<TopicRewriteConfig> configs) {
        publish = rules(configs, TopicRewriteConfig.Action.PUBLISH);
        subscribe = rules(configs, TopicRewriteConfig.Action.SUBSCRIBE);
    }

    /**
     * Creates rules.
     *
     * @param configs the rules, in their order
     * @return null if there is none
     */
    public static @Nullable TopicRewrites of(Collection<TopicRewriteConfig> configs) {
        return configs.isEmpty() ? null : new TopicRewrites(configs);
    }

    private static List<Rule> rules(Collection<TopicRewriteConfig> configs, TopicRewriteConfig.Action action) {
        List<Rule> rules = new ArrayList<>();
        for (TopicRewriteConfig config : configs) {
            if (config.action() == action || config.action() == TopicRewriteConfig.Action.ALL) {
                rules.add(new Rule(config.source(), config.pattern(), config.template()));
            }
        }
        Collections.reverse(rules); // the last one that covers a topic decides
        return rules;
    }

    /** The topic of a message: the same object if there is no other name, null if the new name is no topic name. */
    @Nullable
    TopicName published(ClientIdentity client, TopicName topic) {
        String text = topic.value();
        String rewritten = rewrite(publish, source -> source.matches(topic), client, text);
        try {
            return text.equals(rewritten) ? topic : rewritten == null ? null : TopicName.of(rewritten);
        } catch (InvalidTopicException e) {
            return null;
        }
    }

    /** A will with the topic that a message would have; null if that is no topic name. */
    @Nullable
    Will will(ClientIdentity client, Will will) {
        TopicName topic = will.message().topic();
        TopicName rewritten = published(client, topic);
        if (rewritten == null) {
            return null;
        }
        return rewritten == topic
                ? will
                : new Will(
                        will.message().toBuilder()
                                .topic(rewritten.value())
                                .build()
                                .inPlaceOf(will.message()),
                        will.delaySeconds());
    }

    /** The filter of a SUBSCRIBE or UNSUBSCRIBE: the same object if there is no other, null if the new one is no topic filter. */
    @Nullable
    RequestedFilter subscribed(ClientIdentity client, RequestedFilter requested) {
        TopicFilter filter = requested.filter();
        String rewritten = rewrite(subscribe, source -> source.covers(filter), client, filter.value());
        try {
            return filter.value().equals(rewritten)
                    ? requested
                    : rewritten == null
                            ? null
                            : new RequestedFilter(
                                    TopicFilter.of(rewritten), requested.shareName(), requested.exclusive());
        } catch (InvalidTopicException e) {
            return null;
        }
    }

    /** The new name, which may be the old one; null if a placeholder has no value for the client, or one that is not a plain level. */
    private static @Nullable String rewrite(
            List<Rule> rules, Predicate<TopicFilter> covers, ClientIdentity client, String topic) {
        for (Rule rule : rules) {
            if (covers.test(rule.source)) {
                Matcher found = rule.pattern.matcher(topic);
                return found.find() ? rule.template.fill(name -> value(client, found, name)) : topic;
            }
        }
        return topic;
    }

    private static @Nullable String value(ClientIdentity client, Matcher found, String name) {
        return switch (name) {
            case "clientid" -> client.clientId();
            case "username" -> client.userName();
            default -> {
                String group = found.group(Integer.parseInt(name));
                yield group == null ? "" : group; // it has no part in what was found
            }
        };
    }
}
