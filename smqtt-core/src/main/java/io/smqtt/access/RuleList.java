// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClientRules;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The compiled access rules of one client, in order: the first one that applies decides. A subscription to a wildcard filter is allowed by a rule that
 * covers all of it; what a rule denies within it is held back at delivery. Matching allocates nothing. Immutable.
 */
@AnyThread
public final class RuleList implements ClientRules {

    /** The maximum number of rules of one client. */
    public static final int MAXIMUM_RULES = 1_000;

    /** Actions to which a rule applies. */
    public enum Actions {
        /** Publishing, also of a will. */
        PUBLISH,
        /** Subscribing, and deliveries. */
        SUBSCRIBE,
        /** Subscribing; deliveries need another rule. */
        SUBSCRIBE_REQUEST,
        /** Deliveries; subscribing needs another rule. */
        DELIVERY,
        /** All of them. */
        ALL
    }

    /**
     * One rule, as a backend has it.
     *
     * @param allow whether the rule allows what it applies to
     * @param actions the actions
     * @param topic a topic filter with placeholders; if literal, the name or filter itself
     * @param literal whether the topic is compared as text: {@code a/#} then is that subscription only
     * @param qosLevels a bit for each QoS to which the rule applies: 1, 2 and 4 for QoS 0, 1 and 2
     * @param retain the retain flag of messages to which the rule applies, or null for both; for publishing only
     */
    public record Rule(
            boolean allow,
            Actions actions,
            String topic,
            boolean literal,
            int qosLevels,
            @Nullable Boolean retain) {

        /** All QoS levels. */
        public static final int ALL_LEVELS = 7;

        /**
         * A rule for each QoS and retain flag.
         *
         * @param allow whether the rule allows what it applies to
         * @param actions the actions
         * @param topic a topic filter with placeholders
         */
        public Rule(boolean allow, Actions actions, String topic) {
            this(allow, actions, topic, false, ALL_LEVELS, null);
        }

        boolean appliesTo(AccessAction action, QoS qos, boolean retained) {
            return switch (action) {
                case PUBLISH -> is(Actions.PUBLISH, Actions.ALL) && has(qos) && (retain == null || retain == retained);
                case SUBSCRIBE -> is(Actions.SUBSCRIBE, Actions.SUBSCRIBE_REQUEST) && has(qos);
                case RECEIVE -> is(Actions.SUBSCRIBE, Actions.DELIVERY) && (allow || qosLevels == ALL_LEVELS);
            };
        }

        private boolean is(Actions one, Actions other) {
            return actions == Actions.ALL || actions == one || actions == other;
        }

        private boolean has(QoS qos) {
            return (qosLevels & (1 << qos.level())) != 0;
        }
    }

    private record Compiled(
            Rule rule, String topic, @Nullable RuleFilter filter) {

        boolean matches(ClientIdentity client, String name) {
            return filter == null ? topic.equals(name) : filter.covers(name, client);
        }
    }

    private final Compiled[] rules;

    private RuleList(List<Compiled> rules) {
        this.rules = rules.toArray(Compiled[]::new);
    }

    /**
     * Compiles rules for one client. Placeholders such as {@code ${clientid}} are replaced by the client's values. A value that is not plain text of one level
     * could change the meaning of a filter: a rule that allows is then left out, and one that denies applies to everything from that level on. A rule whose
     * value is absent is left out.
     *
     * @param rules at most {@link #MAXIMUM_RULES}
     * @param values the values of placeholders by name; a name that is absent here has no value
     * @return the rules of the client
     * @throws IllegalArgumentException if there are too many rules, or a topic is no topic filter
     */
    public static RuleList of(List<Rule> rules, Map<String, String> values) {
        if (rules.size() > MAXIMUM_RULES) {
            throw new IllegalArgumentException(
                    rules.size() + " access rules of one client, more than " + MAXIMUM_RULES);
        }
        List<Compiled> compiled = new ArrayList<>(rules.size());
        for (Rule rule : rules) {
            RulePlaceholders placeholders = new RulePlaceholders(rule.topic(), values);
            String topic = placeholders.fill(!rule.allow());
            if (topic != null) {
                RuleFilter filter = rule.literal() && !placeholders.isWider()
                        ? null
                        : RuleFilter.compile(TopicFilter.of(topic).value(), false);
                compiled.add(new Compiled(rule, topic, filter));
            }
        }
        return new RuleList(compiled);
    }

    @Override
    public AccessDecision decide(ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        for (Compiled compiled : rules) {
            if (compiled.rule.appliesTo(action, qos, retain) && compiled.matches(client, topic)) {
                return compiled.rule.allow() ? AccessDecision.ALLOW : AccessDecision.DENY;
            }
        }
        return AccessDecision.CONTINUE;
    }

    /**
     * The number of rules after compilation.
     *
     * @return those that apply to the client at all
     */
    public int size() {
        return rules.length;
    }
}
