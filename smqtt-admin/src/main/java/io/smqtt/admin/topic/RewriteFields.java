// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.config.TopicRewriteConfig;
import io.smqtt.config.TopicRewriteConfig.Action;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** The fields of a topic rewrite. */
final class RewriteFields implements RuleFields<TopicRewriteConfig> {

    private static final String ACTION = "action";
    private static final String SOURCE = "source_topic";
    private static final String EXPRESSION = "re";
    private static final String DESTINATION = "dest_topic";

    @Override
    public TopicRewriteConfig read(JsonFields fields) {
        return new TopicRewriteConfig(
                action(Objects.requireNonNullElse(fields.textOrNull(ACTION), "all")),
                fields.text(SOURCE),
                fields.text(EXPRESSION),
                fields.text(DESTINATION));
    }

    private static Action action(String text) {
        return Arrays.stream(Action.values())
                .filter(action -> RuleFields.text(action).equals(text))
                .findFirst()
                .orElseThrow(() -> new InvalidFieldException("the field action must be publish, subscribe or all"));
    }

    @Override
    public Map<String, Object> write(TopicRewriteConfig rule) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(ACTION, RuleFields.text(rule.action()));
        all.put(SOURCE, rule.sourceTopic());
        all.put(EXPRESSION, rule.re());
        all.put(DESTINATION, rule.destTopic());
        return all;
    }
}
