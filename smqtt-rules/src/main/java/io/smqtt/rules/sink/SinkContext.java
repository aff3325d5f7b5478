// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.config.RuleActionConfig;

/**
 * The action for which a sink is made.
 *
 * @param rule the name of the rule
 * @param action the name of the action
 * @param config the keys that all actions have
 * @param settings the keys of the type
 * @param publisher publishes messages to this broker
 */
public record SinkContext(
        String rule, String action, RuleActionConfig config, SinkSettings settings, SinkPublisher publisher) {

    /**
     * The name of the action for logs and threads.
     *
     * @return {@code rule/action}
     */
    public String label() {
        return rule + '/' + action;
    }
}
