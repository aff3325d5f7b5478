// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectFormat;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicFilter;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The form of a trace as a live object, and in requests. */
final class TraceFormat implements ObjectFormat<TraceSpec> {

    static final String NAME_PATTERN = "[A-Za-z][A-Za-z0-9_-]{0,127}";

    private static final int MAX_VALUE_CHARS = 1_024;
    private static final long MAX_SECOND = 253_402_300_799L; // of the year 9999
    private static final String START = "start_at";
    private static final String END = "end_at";

    @Override
    public TraceSpec read(String id, JsonFields fields) {
        checkName(id);
        TraceSpec.Type type = constant(fields, "type", TraceSpec.Type.class, null);
        return new TraceSpec(
                type,
                value(type, fields.text("value")),
                Instant.ofEpochSecond(fields.number(START, 0, MAX_SECOND)),
                Instant.ofEpochSecond(fields.number(END, 0, MAX_SECOND)),
                constant(fields, "payload_encode", TraceSpec.Encoding.class, null),
                (int) fields.number("payload_limit", 1, TraceSpec.MAX_PAYLOAD_BYTES),
                fields.flag("json"),
                fields.flag("pings"),
                fields.flag("stopped"));
    }

    @Override
    public Map<String, Object> write(TraceSpec trace) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("type", name(trace.type()));
        fields.put("value", trace.value());
        fields.put(START, trace.start().getEpochSecond());
        fields.put(END, trace.end().getEpochSecond());
        fields.put("payload_encode", name(trace.encoding()));
        fields.put("payload_limit", trace.payloadBytes());
        fields.put("json", trace.json());
        fields.put("pings", trace.pings());
        fields.put("stopped", trace.stopped());
        return fields;
    }

    static void checkName(String name) {
        if (!name.matches(NAME_PATTERN)) {
            throw new InvalidFieldException(
                    "the field name must be a letter and up to 127 letters, digits, underscores and hyphens");
        }
    }

    /** Reads the body of a request that makes a trace. */
    static TraceSpec requested(JsonFields fields, Instant now) {
        TraceSpec.Type type = constant(fields, "type", TraceSpec.Type.class, null);
        Instant second = now.truncatedTo(ChronoUnit.SECONDS);
        Instant asked = time(fields, START, second);
        Instant start = asked.isBefore(second) ? second : asked;
        Instant end = time(fields, END, start.plus(TraceSpec.USUAL_TIME));
        if (!end.isAfter(start)) {
            throw new InvalidFieldException("the field end_at must be later than start_at and than now");
        }
        if (end.isAfter(start.plus(TraceSpec.MAX_TIME))) {
            throw new InvalidFieldException("a trace takes at most 24 hours");
        }
        if (start.isAfter(second.plus(TraceSpec.MAX_WAIT))) {
            throw new InvalidFieldException("a trace begins within 7 days");
        }
        return new TraceSpec(
                type,
                value(type, fields.text(name(type))),
                start,
                end,
                constant(fields, "payload_encode", TraceSpec.Encoding.class, TraceSpec.Encoding.HIDDEN),
                fields.has("payload_limit")
                        ? (int) fields.number("payload_limit", 1, TraceSpec.MAX_PAYLOAD_BYTES)
                        : TraceSpec.USUAL_PAYLOAD_BYTES,
                "json".equals(formatter(fields)),
                fields.has("pings") && fields.flag("pings"),
                false);
    }

    private static String formatter(JsonFields fields) {
        String text = fields.textOrNull("formatter");
        if (text == null || text.equals("text") || text.equals("json")) {
            return text == null ? "text" : text;
        }
        throw new InvalidFieldException("the field formatter must be text or json");
    }

    private static String value(TraceSpec.Type type, String text) {
        if (text.isEmpty() || text.length() > MAX_VALUE_CHARS) {
            throw new InvalidFieldException("the field " + name(type) + " must have 1 to 1,024 characters");
        }
        switch (type) {
            case CLIENTID -> {}
            case TOPIC -> {
                try {
                    TopicFilter.of(text);
                } catch (InvalidTopicException e) {
                    throw new InvalidFieldException("the field topic must be a topic filter");
                }
            }
            case IP_ADDRESS -> checkAddress(text);
        }
        return text;
    }

    private static void checkAddress(String text) {
        try {
            TraceSpec.address(text);
        } catch (IllegalArgumentException e) {
            throw new InvalidFieldException(String.valueOf(e.getMessage()));
        }
    }

    /** A time of RFC 3339, or in seconds since 1970. */
    private static Instant time(JsonFields fields, String name, Instant missing) {
        JsonNode node = fields.node().path(name);
        if (node.isMissingNode() || node.isNull()) {
            return missing;
        }
        if (node.isIntegralNumber()) {
            return Instant.ofEpochSecond(fields.number(name, 0, MAX_SECOND));
        }
        try {
            Instant time = OffsetDateTime.parse(fields.text(name)).toInstant().truncatedTo(ChronoUnit.SECONDS);
            if (time.getEpochSecond() >= 0 && time.getEpochSecond() <= MAX_SECOND) {
                return time;
            }
        } catch (DateTimeException e) {
            throw noTime(name);
        }
        throw noTime(name);
    }

    private static InvalidFieldException noTime(String name) {
        return new InvalidFieldException("the field " + name + " must be a time of RFC 3339, or seconds since 1970");
    }

    private static <E extends Enum<E>> E constant(JsonFields fields, String name, Class<E> kind, @Nullable E missing) {
        String text = missing == null ? fields.text(name) : fields.textOrNull(name);
        if (text == null && missing != null) {
            return missing;
        }
        StringBuilder names = new StringBuilder();
        for (E one : kind.getEnumConstants()) {
            if (name(one).equals(text)) {
                return one;
            }
            names.append(names.isEmpty() ? "" : ", ").append(name(one));
        }
        throw new InvalidFieldException("the field " + name + " must be one of " + names);
    }

    static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
