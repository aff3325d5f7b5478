// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Replaces placeholders such as {@code ${clientid}} in the topic of an access rule. Used once, by one thread. */
final class RulePlaceholders {

    private final String topic;
    private final Map<String, String> values;
    private final StringBuilder filled = new StringBuilder();
    private boolean absent;
    private boolean wider;

    RulePlaceholders(String topic, Map<String, String> values) {
        this.topic = topic;
        this.values = values;
    }

    /**
     * Replaces all placeholders.
     *
     * @param widen whether a value that is not safe makes the filter wider, from its level on
     * @return a topic filter; null if the rule has to be left out
     */
    @Nullable
    String fill(boolean widen) {
        int from = 0;
        for (int begin = topic.indexOf("${"); begin >= 0; begin = topic.indexOf("${", from)) {
            int end = topic.indexOf('}', begin);
            if (end < 0) {
                throw new IllegalArgumentException("a placeholder without } in the topic of an access rule: " + topic);
            }
            filled.append(topic, from, begin);
            if (!append(topic.substring(begin + 2, end))) {
                return absent || !widen ? null : widened();
            }
            from = end + 1;
        }
        return filled.append(topic, from, topic.length()).toString();
    }

    /** Whether the result is a filter that is wider than the rule, and no longer the text of a literal topic. */
    boolean isWider() {
        return wider;
    }

    private boolean append(String name) {
        String value = values.get(name);
        absent = value == null;
        if (value == null || !RuleFilter.isSafe(value)) {
            return false;
        }
        filled.append(value);
        return true;
    }

    /** All topics below the levels before the current one. */
    private String widened() {
        wider = true;
        int slash = filled.lastIndexOf("/");
        return filled.substring(0, slash + 1) + "#";
    }
}
