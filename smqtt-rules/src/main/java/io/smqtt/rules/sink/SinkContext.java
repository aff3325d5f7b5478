// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.config.RuleActionConfig;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The action for which a sink is made.
 *
 * @param rule the name of the rule
 * @param action the name of the action
 * @param config the keys that all actions have
 * @param settings the keys of the type
 * @param publisher publishes messages to this broker
 * @param columns the names of the columns that rows can have, or null if they depend on the message
 */
public record SinkContext(
        String rule,
        String action,
        RuleActionConfig config,
        SinkSettings settings,
        SinkPublisher publisher,
        @Nullable Set<String> columns) {

    /**
     * The name of the action for logs and threads.
     *
     * @return {@code rule/action}
     */
    public String label() {
        return rule + '/' + action;
    }

    /**
     * Parses a text whose placeholders must be columns of the rule.
     *
     * @param key the key that has the text, for errors
     * @param text the text, or a part of it
     * @return the template
     * @throws io.smqtt.config.ConfigurationException if a placeholder is no column, with key and line
     */
    public RowTemplate template(String key, String text) {
        RowTemplate template = RowTemplate.parse(text);
        Set<String> known = columns;
        if (known != null) {
            for (String column : template.columns()) {
                if (!known.contains(column)) {
                    throw settings.problem(
                            key,
                            "has the placeholder ${" + column + "}, but the rule has only the columns "
                                    + String.join(", ", known));
                }
            }
        }
        return template;
    }
}
