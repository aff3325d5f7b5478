// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.thread.AnyThread;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes points of InfluxDB: {@code measurement,tag=value field=1i,other="text" 1700000000000}.
 *
 * @param measurement the measurement
 * @param tags tags by name
 * @param fields fields by name; empty for all columns
 * @param time the time; null for that of the server
 */
@AnyThread
record LineProtocol(
        RowTemplate measurement,
        Map<String, RowTemplate> tags,
        Map<String, RowTemplate> fields,
        @Nullable RowTemplate time) {

    private static final BigInteger LARGEST = BigInteger.valueOf(Long.MAX_VALUE);
    private static final BigInteger SMALLEST = BigInteger.valueOf(Long.MIN_VALUE);

    /**
     * Writes a point.
     *
     * @throws SinkException if there is no measurement or no field, or the time is no number
     */
    String line(Map<String, @Nullable Object> row) {
        StringBuilder line = new StringBuilder(escaped(name(row), ", "));
        tags.forEach((name, template) -> {
            Object value = template.value(row);
            if (value != null && !value.equals("")) {
                line.append(',').append(escaped(name, ",= ")).append('=').append(escaped(RowText.plain(value), ",= "));
            }
        });
        char before = ' ';
        for (Map.Entry<String, @Nullable Object> field : values(row).entrySet()) {
            Object value = field.getValue();
            if (value != null) {
                line.append(before).append(escaped(field.getKey(), ",= ")).append('=');
                line.append(typed(value));
                before = ',';
            }
        }
        if (before == ' ') {
            throw new SinkException("the row has no value for a field", false);
        }
        return time == null
                ? line.toString()
                : line.append(' ').append(timestamp(time, row)).toString();
    }

    private String name(Map<String, @Nullable Object> row) {
        Object name = measurement.value(row);
        if (name == null || name.equals("")) {
            throw new SinkException("the row has no measurement", false);
        }
        return RowText.plain(name);
    }

    private Map<String, @Nullable Object> values(Map<String, @Nullable Object> row) {
        if (fields.isEmpty()) {
            return row;
        }
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        fields.forEach((name, template) -> values.put(name, template.value(row)));
        return values;
    }

    private static String typed(Object value) {
        if (value instanceof Boolean) {
            return value.toString();
        } else if (value instanceof Double number) {
            if (!Double.isFinite(number)) {
                throw new SinkException("a field is not a finite number", false);
            }
            return number.toString();
        } else if (value instanceof BigInteger large
                && (large.compareTo(LARGEST) > 0 || large.compareTo(SMALLEST) < 0)) {
            return large.doubleValue() + "";
        } else if (value instanceof Number) {
            return value + "i";
        }
        String text = value instanceof Map || value instanceof List ? RowText.json(value) : RowText.plain(value);
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private static String timestamp(RowTemplate template, Map<String, @Nullable Object> row) {
        String text = template.text(row);
        try {
            return Long.toString(Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw new SinkException("the timestamp is no whole number", false);
        }
    }

    /** A line feed would begin another point. */
    private static String escaped(String text, String special) {
        StringBuilder escaped = new StringBuilder(text.length() + 8);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n' || c == '\r') {
                c = ' ';
            }
            if (special.indexOf(c) >= 0) {
                escaped.append('\\');
            }
            escaped.append(c);
        }
        if (text.endsWith("\\")) { // which would escape what follows
            escaped.append(' ');
        }
        return escaped.toString();
    }
}
