// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.RuleActionConfig;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
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
     * The place of a sink that an application uses without a rule, with the defaults of the keys that all actions have.
     *
     * @param name a name for logs and threads
     * @param factory the type
     * @param settings the keys of the type with their texts; relative paths begin at the working directory
     * @param publisher publishes messages to the broker; only some types use it
     * @return a context for {@link SinkFactory#open}
     * @throws io.smqtt.config.ConfigurationException if the settings cannot be used
     */
    public static SinkContext of(
            String name, SinkFactory factory, Map<String, String> settings, SinkPublisher publisher) {
        return of(
                name,
                factory,
                settings,
                RuleActionConfig.builder(factory.type()).build(),
                publisher);
    }

    /**
     * The place of a sink that an application uses without a rule.
     *
     * @param name a name for logs and threads
     * @param factory the type
     * @param settings the keys of the type with their texts; relative paths begin at the working directory
     * @param action the keys that all actions have, such as the timeout and the number of lanes, by which sinks choose their own timeouts and
     *     connections; its type and settings are not used. A feed of the sink gets {@link #config()} of the context, too
     * @param publisher publishes messages to the broker; only some types use it
     * @return a context for {@link SinkFactory#open}
     * @throws io.smqtt.config.ConfigurationException if the settings cannot be used
     */
    public static SinkContext of(
            String name,
            SinkFactory factory,
            Map<String, String> settings,
            RuleActionConfig action,
            SinkPublisher publisher) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        settings.forEach((key, text) ->
                values.put(key, new ConfigValue(text, "", Path.of("").toAbsolutePath())));
        SinkSettings checked = SinkSettings.of("", factory.settings(), values);
        RuleActionConfig config =
                action.toBuilder().type(factory.type()).settings(values).build();
        return new SinkContext(name, factory.type(), config, checked, publisher, null);
    }

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
