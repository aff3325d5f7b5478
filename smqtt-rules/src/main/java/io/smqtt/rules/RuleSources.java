// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sql.RuleInput;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.rules.sql.RuleSqlException;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Translates what stands after FROM into topic filters, and messages about events into what statements see. */
final class RuleSources {

    /** The event of a message that is published. */
    static final String MESSAGE = "message.publish";

    private static final String EVENTS = "$events/";
    private static final List<String> OTHER = List.of("$bridges/", "$sources/"); // of EMQX; no topics
    private static final List<String> KNOWN = List.of(
            "client/connected",
            "client/disconnected",
            "client/connack",
            "auth/check_authn_complete",
            "auth/check_authz_complete",
            "session/subscribed",
            "session/unsubscribed",
            "message/delivered",
            "message/acked",
            "message/dropped",
            "message/delivery_dropped");
    private static final ObjectMapper JSON = new ObjectMapper();

    private RuleSources() {}

    /**
     * The filters of a statement.
     *
     * @throws RuleSqlException if a source is none, with its place
     */
    static List<String> filters(RuleProgram program) throws RuleSqlException {
        Set<String> filters = new LinkedHashSet<>();
        List<String> sources = program.sources();
        for (int i = 0; i < sources.size(); i++) {
            String source = sources.get(i);
            try {
                filters.add(source.startsWith(EVENTS) ? event(source) : topic(source));
            } catch (IllegalArgumentException e) {
                throw program.mistakeIn(i, String.valueOf(e.getMessage()));
            }
        }
        return List.copyOf(filters);
    }

    private static String topic(String source) {
        if (OTHER.stream().anyMatch(source::startsWith)) {
            throw new IllegalArgumentException(
                    source
                            + " is no topic: what bridges and sources bring is published to topics of this broker; name these topics");
        }
        if (SharedFilter.isShared(source)) {
            throw new IllegalArgumentException("a rule has no shared subscription: name the topic filter alone");
        }
        try {
            TopicFilter.of(source);
            return source;
        } catch (InvalidTopicException e) {
            throw new IllegalArgumentException("neither a topic filter nor an event: " + source, e);
        }
    }

    /** EMQX writes {@code $events/client_connected} and {@code $events/client/connected}; some former names have another kind, or none. */
    private static String event(String source) {
        String name = source.substring(EVENTS.length());
        String levels = switch (name) {
            case "delivery_dropped" -> "message/delivery_dropped";
            case "client_check_authn_complete", "client_check_authz_complete" -> name.replaceFirst("client_", "auth/");
            default -> name.indexOf('/') < 0 ? name.replaceFirst("_", "/") : name;
        };
        if (!KNOWN.contains(levels)) {
            throw new IllegalArgumentException("this broker does not publish the event " + source + "; it has " + EVENTS
                    + String.join(", " + EVENTS, KNOWN));
        }
        return EVENTS + levels;
    }

    /** The value of the field {@code event} for what one of {@link #filters} has. */
    static String eventOf(String filter) {
        if (!filter.startsWith(EVENTS)) {
            return MESSAGE;
        }
        String levels = filter.substring(EVENTS.length());
        return levels.equals("message/delivery_dropped")
                ? "delivery.dropped"
                : levels.replaceFirst("auth/", "client/").replaceFirst("/", ".");
    }

    static boolean isEvent(ApplicationMessage message) {
        return message.publisherId() == null && message.topic().value().startsWith(EVENTS);
    }

    /** The fields of an event, which are the members of its payload. */
    static RuleInput event(ApplicationMessage message) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        try {
            Map<?, ?> members = JSON.readValue(message.payload().toByteArray(), Map.class);
            members.forEach((name, value) -> fields.put(String.valueOf(name), value));
        } catch (IOException e) {
            fields.clear(); // an event without fields
        }
        return RuleInput.of(fields);
    }
}
