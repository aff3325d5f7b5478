// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** Functions of the event itself, of topics, and of the environment. */
final class EventFunctions {

    /** The beginning of the names of environment variables that rules may read. */
    static final String PREFIX = "SMQTTVAR_";

    private EventFunctions() {}

    static List<Function> all() {
        FunctionFamily family = new FunctionFamily();
        fields(family);
        topics(family);
        return family.live("uuid_v4()", "a random UUID", a -> UUID.randomUUID().toString())
                .live(
                        "uuid_v4_no_hyphen()",
                        "a random UUID without hyphens",
                        a -> UUID.randomUUID().toString().replace("-", ""))
                .live(
                        "getenv(name)",
                        "the environment variable SMQTTVAR_name of the broker; undefined if there is none",
                        a -> System.getenv(PREFIX + a.text(0)))
                .functions();
    }

    private static void fields(FunctionFamily family) {
        family.live("msgid()", "the field id", a -> a.field("id"))
                .live("qos()", "the field qos", a -> a.field("qos"))
                .live("flags()", "the field flags", a -> a.field("flags"))
                .live(
                        "flag(name)",
                        "one of the flags, for example flag('retain')",
                        a -> a.field("flags") instanceof Map<?, ?> flags ? Values.get(flags, a.text(0)) : null)
                .live("clientid()", "the field clientid", a -> a.field("clientid"))
                .live("username()", "the field username", a -> a.field("username"))
                .live("clientip()", "the field peerhost", a -> a.field("peerhost"))
                .live("peerhost()", "the field peerhost", a -> a.field("peerhost"))
                .live("topic([n])", "the field topic, or its nth level", EventFunctions::topic)
                .live("payload([path])", "the field payload, or a value of it: keys with dots between them", a -> {
                    if (a.count() == 0) {
                        return a.field("payload");
                    }
                    Object value = a.payload().tree(a.meter());
                    for (String key : a.text(0).split("\\.", -1)) {
                        value = Paths.key(value, key, a.meter());
                    }
                    return value;
                });
    }

    private static void topics(FunctionFamily family) {
        family.add(
                        "contains_topic(filters, topic[, qos])",
                        "whether an array of topic filters, as maps with topic and qos or as text, has this one",
                        a -> has(a, (filter, topic) -> filter.equals(topic)))
                .add(
                        "contains_topic_match(filters, topic[, qos])",
                        "whether one of the filters matches the topic",
                        a -> has(a, (filter, topic) -> Operators.matches(topic, Operators.filter(filter), a.meter())));
    }

    private static @Nullable Object topic(Arguments a) {
        Object topic = a.field("topic");
        if (a.count() == 0 || !(topic instanceof String text)) {
            return topic;
        }
        long wanted = a.integer(0);
        int start = 0;
        for (long level = 1; start >= 0; level++) {
            int end = text.indexOf('/', start);
            if (level == wanted) {
                return text.substring(start, end < 0 ? text.length() : end);
            }
            start = end < 0 ? -1 : end + 1;
        }
        return null;
    }

    private static boolean has(Arguments a, BiPredicate<String, String> test) {
        String topic = a.text(1);
        for (Object element : a.list(0)) {
            a.meter().step();
            Object filter = element instanceof Map<?, ?> map ? Values.get(map, "topic") : element;
            boolean sameQos = a.count() < 3
                    || element instanceof Map<?, ?> map
                            && Comparisons.equal(Values.get(map, "qos"), a.value(2), a.meter());
            if (filter instanceof String text && sameQos && test.test(text, topic)) {
                return true;
            }
        }
        return false;
    }
}
