// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.List;

/**
 * The messages of one publisher, by topic.
 *
 * @param plain with the topic and without alias
 * @param introducing with topic and alias, for the first topics; the first message of a topic that has an alias
 * @param aliased with the alias instead of the topic; as many as {@code introducing}
 */
record TopicTemplates(PublishTemplate[] plain, PublishTemplate[] introducing, PublishTemplate[] aliased) {

    /** Encodes the messages to {@code topics}; numbered topics get no alias. */
    static TopicTemplates of(Target target, List<String> topics, LoadSettings settings) {
        boolean numbered = topics.stream().anyMatch(topic -> topic.endsWith(PublishTemplate.NUMBER));
        int aliases = numbered ? 0 : Math.min(topics.size(), target.topicAliases());
        PublishTemplate[] plain = new PublishTemplate[topics.size()];
        PublishTemplate[] introducing = new PublishTemplate[aliases];
        PublishTemplate[] aliased = new PublishTemplate[aliases];
        for (int i = 0; i < plain.length; i++) {
            plain[i] = template(target, topics.get(i), settings, 0);
            if (i < aliases) {
                introducing[i] = template(target, topics.get(i), settings, i + 1);
                aliased[i] = template(target, "", settings, i + 1);
            }
        }
        return new TopicTemplates(plain, introducing, aliased);
    }

    private static PublishTemplate template(Target target, String topic, LoadSettings settings, int alias) {
        return new PublishTemplate(
                target.version(),
                topic,
                settings.qos(),
                settings.retain(),
                settings.userProperties(),
                alias,
                settings.payload());
    }
}
