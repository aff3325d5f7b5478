// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.re2j.Pattern;
import io.smqtt.access.AddressRange;
import io.smqtt.access.RuleList;
import io.smqtt.access.RuleList.Actions;
import io.smqtt.config.LinearPattern;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.LogText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Reads access rules in the format of EMQX, and compiles them for a client. A field that is not known may be a condition: a rule with one is left out if it
 * allows, and applies without that condition if it denies; a line in the log names the field. A rule that cannot be read makes the whole list unusable: half
 * of a list could allow what the other half denies.
 */
public final class AccessRules {

    /** The steps of a regular expression, at most. */
    private static final int MAX_STEPS = 5_000;

    private static final Set<String> FIELDS = Set.of(
            "permission",
            "action",
            "topic",
            "topics",
            "qos",
            "retain",
            "clientid_re",
            "username_re",
            "ipaddr",
            "listener");

    private static final int LINES = 10;

    private static final Logger LOG = LoggerFactory.getLogger(AccessRules.class);
    private static final LogLimiter UNKNOWN_FIELDS = new LogLimiter(LOG, Level.WARN, 1, LINES);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String LITERAL = "eq ";
    private static final List<String> PLACEHOLDERS =
            List.of("username", "clientid", "peerhost", "cert_subject", "cert_common_name", "listener");

    private AccessRules() {}

    /**
     * Reads a list of rules.
     *
     * @param json an array of objects with {@code permission}, {@code action}, and {@code topic} or {@code topics}
     * @return the rules in order; one with several topics becomes several, one that allows and has an unknown field none
     * @throws IllegalArgumentException if it is no such list; with the number of the rule
     */
    public static List<AccessRule> parse(JsonNode json) {
        if (!json.isArray()) {
            throw new IllegalArgumentException("the access rules are no list");
        }
        List<AccessRule> rules = new ArrayList<>();
        for (int i = 0; i < json.size(); i++) {
            try {
                parse(json.get(i), rules::add);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("access rule " + (i + 1) + " " + e.getMessage(), e);
            }
        }
        if (rules.size() > RuleList.MAXIMUM_RULES) {
            throw new IllegalArgumentException("more than " + RuleList.MAXIMUM_RULES + " access rules");
        }
        return rules;
    }

    /**
     * Reads a list of rules.
     *
     * @param json the text of an array
     * @return the rules in order
     * @throws IllegalArgumentException if it is no such list
     */
    public static List<AccessRule> parse(String json) {
        return parse(tree(json));
    }

    /**
     * Reads one rule.
     *
     * @param json the text of an object
     * @return the rule; several if it has several topics, none if it allows and has an unknown field
     * @throws IllegalArgumentException if it is no rule
     */
    public static List<AccessRule> parseOne(String json) {
        List<AccessRule> rules = new ArrayList<>();
        parse(tree(json), rules::add);
        return rules;
    }

    private static JsonNode tree(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the access rules are no JSON");
        }
    }

    private static void parse(JsonNode json, Consumer<AccessRule> rules) {
        if (!json.isObject()) {
            throw new IllegalArgumentException("is no object");
        }
        Fields fields = new Fields(
                text(json, "permission"),
                text(json, "action"),
                json.get("qos"),
                json.get("retain"),
                text(json, "clientid_re"),
                text(json, "username_re"),
                text(json, "ipaddr"),
                text(json, "listener"));
        JsonNode topics = json.has("topics") ? json.get("topics") : json.get("topic");
        if (topics == null || topics.isNull()) {
            throw new IllegalArgumentException("has no topic");
        }
        boolean unknown = hasUnknownField(json);
        for (JsonNode topic : topics.isArray() ? topics : List.of(topics)) {
            AccessRule rule = fields.rule(topic(topic));
            if (!unknown || !rule.rule().allow()) {
                rules.accept(rule);
            }
        }
    }

    /** Whether there is a field that may be a condition of which nothing is known, such as the zone of a client. */
    private static boolean hasUnknownField(JsonNode json) {
        boolean unknown = false;
        for (Map.Entry<String, JsonNode> field : json.properties()) {
            if (!FIELDS.contains(field.getKey()) && !field.getValue().isNull()) {
                unknown = true;
                warnOfField(field.getKey());
            }
        }
        return unknown;
    }

    private static void warnOfField(String name) {
        String text = LogText.escape(name);
        if (UNKNOWN_FIELDS.allows(text)) {
            LOG.warn(
                    "access rules have the field {}, which is not known: rules that allow are left out, rules that deny"
                            + " apply without this condition",
                    text);
        }
    }

    private static String topic(JsonNode topic) {
        if (!topic.isTextual()) {
            throw new IllegalArgumentException("has a topic that is no text");
        }
        return topic.textValue();
    }

    /**
     * Makes a rule from texts, such as the columns of a row.
     *
     * @param permission {@code allow} or {@code deny}
     * @param action {@code publish}, {@code subscribe} or {@code all}; null for all
     * @param topic a topic filter with placeholders; after {@code eq } compared as text
     * @param qos QoS levels such as {@code 0,1}, or null for all
     * @param retain {@code 0}, {@code 1}, {@code true}, {@code false} or {@code all}; null for all
     * @param address an address or network of clients, or null for all
     * @return the rule
     * @throws IllegalArgumentException if a text is not one of these
     */
    public static AccessRule of(
            String permission,
            @Nullable String action,
            String topic,
            @Nullable String qos,
            @Nullable String retain,
            @Nullable String address) {
        return new Fields(permission, action, textNode(qos), textNode(retain), null, null, address, null).rule(topic);
    }

    /**
     * Makes rules from texts by the names of fields, such as the columns of a row.
     *
     * @param fields the fields as they stand in JSON, such as {@code permission} and {@code clientid_re}; {@code topic} is one topic
     * @return one rule; none if it allows and has an unknown field
     * @throws IllegalArgumentException if a text cannot be read
     */
    public static List<AccessRule> of(Map<String, String> fields) {
        ObjectNode json = JSON.createObjectNode();
        fields.forEach(json::put);
        List<AccessRule> rules = new ArrayList<>();
        parse(json, rules::add);
        return rules;
    }

    private static @Nullable JsonNode textNode(@Nullable String text) {
        return text == null ? null : JSON.getNodeFactory().textNode(text);
    }

    private static @Nullable String text(JsonNode json, String name) {
        JsonNode value = json.get(name);
        if (value == null || value.isNull()) {
            return null;
        }
        if (value.isContainerNode()) {
            throw new IllegalArgumentException("has a field " + name + " that is no text");
        }
        return value.asText();
    }

    /** The fields of a rule beside its topic. */
    private record Fields(
            @Nullable String permission,
            @Nullable String action,
            @Nullable JsonNode qos,
            @Nullable JsonNode retain,
            @Nullable String clientId,
            @Nullable String userName,
            @Nullable String address,
            @Nullable String listener) {

        AccessRule rule(String topic) {
            boolean literal = topic.startsWith(LITERAL);
            RuleList.Rule rule = new RuleList.Rule(
                    allows(),
                    actions(action),
                    literal ? topic.substring(LITERAL.length()) : topic,
                    literal,
                    levels(qos),
                    retained(retain));
            return new AccessRule(rule, pattern(clientId), pattern(userName), network(address), listener);
        }

        private boolean allows() {
            if (!"allow".equals(permission) && !"deny".equals(permission)) {
                throw new IllegalArgumentException("has a permission that is neither allow nor deny");
            }
            return "allow".equals(permission);
        }
    }

    /**
     * Reads the actions of a rule.
     *
     * @param text {@code publish} or {@code pub}, {@code subscribe} or {@code sub}, {@code all} or {@code pubsub}; null for all
     * @return the actions
     * @throws IllegalArgumentException if the text is none of these
     */
    public static Actions actions(@Nullable String text) {
        return switch (text == null ? "all" : text.toLowerCase(Locale.ROOT)) {
            case "publish", "pub" -> Actions.PUBLISH;
            case "subscribe", "sub" -> Actions.SUBSCRIBE;
            case "all", "pubsub" -> Actions.ALL;
            default -> throw new IllegalArgumentException("has an action that is not publish, subscribe or all");
        };
    }

    private static int levels(@Nullable JsonNode qos) {
        if (qos == null || qos.isNull() || qos.asText().equals("all")) {
            return RuleList.Rule.ALL_LEVELS;
        }
        int levels = 0;
        if (qos.isArray()) {
            for (JsonNode one : qos) {
                levels |= level(one.asText());
            }
        } else {
            for (String one : qos.asText().split(",", -1)) {
                levels |= level(one.strip());
            }
        }
        if (levels == 0) {
            throw new IllegalArgumentException("has no QoS");
        }
        return levels;
    }

    private static int level(String text) {
        return switch (text) {
            case "0" -> 1;
            case "1" -> 2;
            case "2" -> 4;
            default -> throw new IllegalArgumentException("has a QoS that is not 0, 1 or 2");
        };
    }

    private static @Nullable Boolean retained(@Nullable JsonNode retain) {
        if (retain == null || retain.isNull()) {
            return null;
        }
        return switch (retain.asText()) {
            case "0", "false" -> Boolean.FALSE;
            case "1", "true" -> Boolean.TRUE;
            case "all" -> null;
            default -> throw new IllegalArgumentException("has a retain flag that is not 0, 1, true, false or all");
        };
    }

    private static @Nullable Pattern pattern(@Nullable String regex) {
        try {
            return regex == null ? null : LinearPattern.compile(regex, MAX_STEPS);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    e.getCause() == null
                            ? "has a regular expression that " + e.getMessage()
                            : "has a regular expression that RE2 does not accept",
                    e);
        }
    }

    private static List<AddressRange> network(@Nullable String text) {
        if (text == null) {
            return List.of();
        }
        AddressRange range = AddressRange.parse(text);
        if (range == null) {
            throw new IllegalArgumentException("has an ipaddr that is no network");
        }
        return List.of(range);
    }

    /**
     * Compiles rules for one client: those that apply to it, with its values in place of the placeholders.
     *
     * @param rules the rules in order
     * @param client the client
     * @return the compiled rules
     * @throws IllegalArgumentException if a topic is no topic filter, or there are too many rules
     */
    public static RuleList compile(List<AccessRule> rules, BackendRequest client) {
        List<RuleList.Rule> applying = new ArrayList<>(rules.size());
        for (AccessRule rule : rules) {
            if (rule.appliesTo(client)) {
                applying.add(rule.rule());
            }
        }
        return RuleList.of(applying, values(client));
    }

    private static Map<String, String> values(BackendRequest client) {
        Map<String, String> values = new HashMap<>();
        for (String name : PLACEHOLDERS) {
            String value = client.value(name);
            if (value != null) {
                values.put(name, value);
            }
        }
        client.attributes().forEach((name, value) -> values.put(Template.ATTRIBUTES + name, value));
        return values;
    }
}
