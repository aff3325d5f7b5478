// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.admin.Json;
import io.smqtt.message.LogText;
import io.smqtt.topic.TopicName;
import io.smqtt.trace.TraceEvent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Writes events as lines. A line has exactly one line feed, at its end, whatever clients have sent: unsafe characters become escape sequences.
 *
 * @param node the name of this node
 * @param trace says how payloads are shown, and the kind of lines
 */
record TraceLine(String node, TraceSpec trace) {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    /** The length of a time. */
    static final int TIME_CHARS = 24;

    /** The index of the time in a line of JSON. */
    static final int TIME_IN_JSON = "{\"time\":\"".length();

    private static final String SEPARATORS = " =,[]";

    /** Writes an event; UTF-8, with the line feed. */
    byte[] of(TraceEvent event) {
        Map<String, Object> fields = fields(event);
        String line = trace.json() ? json(fields) : text(fields);
        return (line + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Writes that events are missing. */
    byte[] missing(long timeMillis, long count, String reason) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("time", TIME.format(Instant.ofEpochMilli(timeMillis)));
        fields.put("node", node);
        fields.put("event", "MISSING");
        fields.put("count", count);
        fields.put("reason", reason);
        return ((trace.json() ? json(fields) : text(fields)) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private Map<String, Object> fields(TraceEvent event) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("time", TIME.format(Instant.ofEpochMilli(event.timeMillis())));
        fields.put("node", node);
        fields.put("event", event.kind().name());
        put(fields, "clientid", event.clientId());
        put(fields, "username", event.userName());
        InetSocketAddress from = event.address();
        if (from != null) {
            InetAddress address = from.getAddress();
            String host = address == null ? from.getHostString() : address.getHostAddress();
            fields.put("peername", (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + from.getPort());
        }
        TopicName topic = event.topic();
        if (topic != null) {
            fields.put("topic", topic.value());
        }
        event.details().forEach(fields::putIfAbsent);
        if (topic != null) {
            fields.put("payload_size", event.payloadSize());
            payload(event, fields);
        }
        return fields;
    }

    private static void put(Map<String, Object> fields, String name, @Nullable String value) {
        if (value != null) {
            fields.put(name, value);
        }
    }

    private void payload(TraceEvent event, Map<String, Object> fields) {
        if (trace.encoding() == TraceSpec.Encoding.HIDDEN || event.payload().length == 0) {
            return;
        }
        byte[] shown = event.payload().length <= trace.payloadBytes()
                ? event.payload()
                : Arrays.copyOf(event.payload(), trace.payloadBytes());
        fields.put(
                "payload",
                trace.encoding() == TraceSpec.Encoding.HEX
                        ? HexFormat.of().formatHex(shown)
                        : new String(shown, StandardCharsets.UTF_8));
        if (shown.length < event.payloadSize()) {
            fields.put("payload_cut", true);
        }
    }

    /** JSON has no raw control characters, so that all that is escaped here is in texts. */
    private static String json(Map<String, Object> fields) {
        return LogText.escapeControls(new String(Json.bytesOf(fields), StandardCharsets.UTF_8));
    }

    private static String text(Map<String, Object> fields) {
        StringBuilder line = new StringBuilder(256);
        fields.forEach((name, value) -> {
            if (!line.isEmpty()) {
                line.append(' ');
            }
            if (!name.equals("time") && !name.equals("node") && !name.equals("event")) {
                line.append(name).append('=');
            }
            line.append(value(value));
        });
        return line.toString();
    }

    /** A list in brackets, or a value that is in quotation marks unless it needs none. */
    private static String value(Object value) {
        if (value instanceof Iterable<?> list) {
            StringJoiner all = new StringJoiner(",", "[", "]");
            list.forEach(one -> all.add(value(one)));
            return all.toString();
        }
        String text = value.toString();
        String escaped = LogText.escapeControls(text.replace("\\", "\\\\").replace("\"", "\\\""));
        boolean plain =
                !escaped.isEmpty() && escaped.equals(text) && text.chars().noneMatch(c -> SEPARATORS.indexOf(c) >= 0);
        return plain ? escaped : '"' + escaped + '"';
    }
}
