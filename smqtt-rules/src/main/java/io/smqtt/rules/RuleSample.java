// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.rules.sql.RuleInput;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.rules.sql.RuleSqlException;
import io.smqtt.rules.sql.RuleTrace;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A sample message or event for a trial of a statement. Without an event and a topic it gets those of FROM. Immutable.
 */
@AnyThread
public final class RuleSample {

    private static final String EVENT = "event";
    private static final String TOPIC = "topic";

    private final Map<String, @Nullable Object> fields;
    private final String from;
    private final boolean selected;

    private RuleSample(Map<String, @Nullable Object> fields, String from, boolean selected) {
        this.fields = fields;
        this.from = from;
        this.selected = selected;
    }

    /**
     * A sample for a statement.
     *
     * @param program the statement
     * @param fields names and values, as statements see them; without {@code event} and EMQX's {@code event_type} it is a message, or the first event of
     *     a statement that has no topics, and a message without {@code topic} has one that FROM has
     * @return the sample
     * @throws RuleSqlException if something in FROM is neither a topic filter nor an event of this broker, with its place
     */
    public static RuleSample of(RuleProgram program, Map<String, ? extends @Nullable Object> fields)
            throws RuleSqlException {
        List<String> filters = RuleSources.filters(program);
        Map<String, @Nullable Object> all = new LinkedHashMap<>(fields);
        String event = event(filters, fields);
        all.put(EVENT, event);
        if (event.equals(RuleSources.MESSAGE) && !(all.get(TOPIC) instanceof String)) {
            filters.stream()
                    .filter(filter -> RuleSources.eventOf(filter).equals(event))
                    .findFirst()
                    .ifPresent(filter -> all.put(TOPIC, filter.replace('+', '1').replace('#', '1')));
        }
        String from = program.sources().stream().collect(Collectors.joining("\", \"", "\"", "\""));
        Object topic = all.get(TOPIC);
        return new RuleSample(
                all, from, filters.stream().anyMatch(filter -> isOf(filter, event, String.valueOf(topic))));
    }

    private static String event(List<String> filters, Map<String, ? extends @Nullable Object> fields) {
        if (fields.get(EVENT) instanceof String event) {
            return event;
        }
        if (fields.get("event_type") instanceof String type) {
            return type.replaceFirst("_", ".");
        }
        List<String> events = filters.stream().map(RuleSources::eventOf).toList();
        return events.contains(RuleSources.MESSAGE) ? RuleSources.MESSAGE : events.get(0);
    }

    private static boolean isOf(String filter, String event, String topic) {
        if (!RuleSources.eventOf(filter).equals(event)) {
            return false;
        }
        try {
            return !event.equals(RuleSources.MESSAGE) || TopicFilter.of(filter).matches(TopicName.of(topic));
        } catch (InvalidTopicException e) {
            return false; // no message has this topic
        }
    }

    /**
     * The sample as the statement sees it.
     *
     * @return for one evaluation
     */
    public RuleInput input() {
        return RuleInput.of(fields);
    }

    /**
     * Whether a rule with this statement gets such a message or event at all.
     *
     * @return false if FROM does not have it, whatever the other clauses say
     */
    public boolean isSelected() {
        return selected;
    }

    /**
     * The result of FROM.
     *
     * @return the clause, with {@link #isSelected()} as its value
     */
    public RuleTrace.Clause from() {
        return new RuleTrace.Clause("FROM", from, selected, null);
    }

    /**
     * The reason for which a rule with this statement does not get the sample.
     *
     * @return a part of a sentence, which names its topic or event
     */
    public String reason() {
        Object event = fields.get(EVENT);
        return RuleSources.MESSAGE.equals(event)
                ? "FROM does not have the topic " + fields.get(TOPIC)
                : "FROM does not have the event " + event;
    }
}
