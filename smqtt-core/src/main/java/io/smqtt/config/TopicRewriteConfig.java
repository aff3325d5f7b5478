// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import com.google.re2j.Pattern;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicTemplate;
import java.util.ArrayList;
import java.util.List;

/**
 * A rule that gives topics of clients another name: {@code smqtt.topic-rewrites.<name>.*}. Immutable.
 *
 * @param action which topics the rule is for
 * @param sourceTopic a topic filter: the rule is for the topics that it matches, and for subscriptions to no other topics than these
 * @param re a regular expression in the syntax of RE2; a topic in which it finds nothing keeps its name
 * @param destTopic the new name; $1 to $9 stand for the groups of the regular expression, the placeholders for the names of the client
 */
@ConfigBlock("topic-rewrites.<name>")
public record TopicRewriteConfig(
        @Setting("all") Action action,
        @Setting(required = true) String sourceTopic,
        @Setting(required = true) String re,

        @Setting(
                required = true,
                placeholders = {"${clientid}", "${username}"})
        String destTopic) {

    private static final String BLOCK = "topic-rewrites.<name>.";

    /** The highest group that a name can have. */
    private static final int MAX_GROUPS = 9;

    /** The steps of an expression, at most, for each character of a topic. */
    private static final int MAX_STEPS = 2_000;

    /** Which topics a rule is for. */
    public enum Action {
        /** Topics of messages, wills included. */
        PUBLISH,
        /** Topics of SUBSCRIBE and UNSUBSCRIBE. */
        SUBSCRIBE,
        /** Both. */
        ALL
    }

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if the source is no topic filter, the expression is invalid, the new name has an unknown placeholder
     *     or a group that the expression does not have, or is a shared subscription, or has a wildcard though the rule is for messages
     */
    public TopicRewriteConfig {
        Check.present(BLOCK + "source-topic", sourceTopic);
        Check.that(
                !SharedFilter.isShared(sourceTopic),
                BLOCK + "source-topic",
                "must be the topic filter without $share and its group");
        filter(sourceTopic);
        String sample = template(destTopic, pattern(re).groupCount()).fill(name -> "a");
        Check.that(
                !SharedFilter.isShared(String.valueOf(sample)),
                BLOCK + "dest-topic",
                "cannot be a shared subscription");
        try {
            boolean wildcard = TopicFilter.of(String.valueOf(sample)).hasWildcard();
            Check.that(
                    !wildcard || action == Action.SUBSCRIBE,
                    BLOCK + "dest-topic",
                    "has a wildcard: this is possible with action: subscribe only");
        } catch (InvalidTopicException e) {
            throw new ConfigurationException(BLOCK + "dest-topic", "is no topic: " + destTopic);
        }
    }

    private static TopicFilter filter(String text) {
        try {
            return TopicFilter.of(text);
        } catch (InvalidTopicException e) {
            throw new ConfigurationException(BLOCK + "source-topic", "is no topic filter: " + text);
        }
    }

    private static Pattern pattern(String text) {
        try {
            return LinearPattern.compile(text, MAX_STEPS);
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(BLOCK + "re", String.valueOf(e.getMessage()));
        }
    }

    private static TopicTemplate template(String text, int groups) {
        List<String> names = new ArrayList<>(List.of("clientid", "username"));
        for (int group = 1; group <= Math.min(groups, MAX_GROUPS); group++) {
            names.add(Integer.toString(group));
        }
        return Check.template(BLOCK + "dest-topic", text, names);
    }

    /**
     * The topics that the rule is for.
     *
     * @return a topic filter
     */
    public TopicFilter source() {
        return filter(sourceTopic);
    }

    /**
     * The regular expression.
     *
     * @return a pattern, whose time grows with the length of a topic only
     */
    public Pattern pattern() {
        return pattern(re);
    }

    /**
     * The new name with its placeholders and groups.
     *
     * @return a new template
     */
    public TopicTemplate template() {
        return template(destTopic, pattern().groupCount());
    }

    /**
     * Creates a rule for messages and subscriptions.
     *
     * @param sourceTopic the topic filter
     * @param re the regular expression
     * @param destTopic the new name
     * @return the configuration
     */
    public static TopicRewriteConfig of(String sourceTopic, String re, String destTopic) {
        return new TopicRewriteConfigBuilder()
                .sourceTopic(sourceTopic)
                .re(re)
                .destTopic(destTopic)
                .build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public TopicRewriteConfigBuilder toBuilder() {
        return new TopicRewriteConfigBuilder(this);
    }
}
