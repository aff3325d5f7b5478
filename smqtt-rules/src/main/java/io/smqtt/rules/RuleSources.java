// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sql.RuleInput;
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
     * @throws IllegalArgumentException if a source is none; the message continues a sentence
     */
    static List<String> filters(List<String> sources) {
        Set<String> filters = new LinkedHashSet<>();
        for (String source : sources) {
            filters.add(source.startsWith(EVENTS) ? event(source) : topic(source));
        }
        return List.copyOf(filters);
    }

    private static String topic(String source) {
        if (OTHER.stream().anyMatch(source::startsWith)) {
            throw new IllegalArgumentException(
                    "cannot read " + source
                            + " in FROM: what bridges and sources bring is published to topics of this broker; name these topics");
        }
        if (SharedFilter.isShared(source)) {
            throw new IllegalArgumentException("cannot have a shared subscription in FROM: " + source);
        }
        try {
            TopicFilter.of(source);
            return source;
        } catch (InvalidTopicException e) {
            throw new IllegalArgumentException("has no topic filter and no event in FROM: " + source, e);
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
            throw new IllegalArgumentException("has an event in FROM that this broker does not publish: " + source
                    + "; it has " + EVENTS + String.join(", " + EVENTS, KNOWN));
        }
        return EVENTS + levels;
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
