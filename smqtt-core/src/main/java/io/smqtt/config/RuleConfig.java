// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A rule: {@code smqtt.rules.<name>.*}. Immutable.
 *
 * @param sql the statement that selects messages and makes the rows for the actions, such as
 *     {@code SELECT payload.t AS t, clientid FROM "sensors/#" WHERE payload.t > 40}
 * @param description a text for people
 * @param actions what is done with the rows, by names of your choice; each has a queue of its own
 * @param deadLetterFile the file for messages that an action has given up, as JSON lines; by default {@code rules/<name>-dead.jsonl} in the
 *     folder of the store, and without a store none. They are also published to {@code $rule/dead/<name>}
 */
@ConfigBlock("rules.<name>")
public record RuleConfig(
        @Setting(required = true) String sql,
        String description,
        Map<String, RuleActionConfig> actions,
        @Nullable Path deadLetterFile) {

    /** A queue is kept under the names of rule and action. */
    private static final int MOST_ACTIONS = 20;

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if the statement is empty, or an action has no valid name
     */
    public RuleConfig {
        Check.present("rules.<name>.sql", sql);
        Check.that(!sql.isBlank(), "rules.<name>.sql", "must be set");
        actions = Collections.unmodifiableMap(new LinkedHashMap<>(actions));
        actions.forEach((name, action) -> {
            Check.name("rules.<name>.actions", name);
            Check.present("rules.<name>.actions", action);
        });
        Check.that(
                actions.size() <= MOST_ACTIONS, "rules.<name>.actions", "has more than " + MOST_ACTIONS + " entries");
    }

    /**
     * Creates a rule without actions.
     *
     * @param sql the statement
     * @return a builder, for one thread
     */
    public static RuleConfigBuilder builder(String sql) {
        return new RuleConfigBuilder().sql(sql);
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public RuleConfigBuilder toBuilder() {
        return new RuleConfigBuilder(this);
    }
}
