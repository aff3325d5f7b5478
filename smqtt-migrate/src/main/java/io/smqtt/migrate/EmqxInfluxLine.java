// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A line of the line protocol with placeholders: {@code write_syntax} of EMQX. A field here has the type of its one placeholder, or is a text.
 *
 * @param measurement the measurement
 * @param tags tags by name
 * @param fields fields by name, as they are written there
 * @param timestamp the time; empty if there is none
 */
record EmqxInfluxLine(String measurement, Map<String, String> tags, Map<String, String> fields, String timestamp) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,100}");
    private static final Pattern TEXT = Pattern.compile("\"(.*)\"");
    private static final Pattern VALUE = Pattern.compile("(\\$\\{[^}]+})[iu]?");
    private static final Pattern QUOTED_VALUE = Pattern.compile("\"\\$\\{[^}]+}\"");

    /** Reads a line; null if it has another form. */
    static @Nullable EmqxInfluxLine of(String text) {
        String[] parts = text.split(" +", -1);
        if (text.indexOf('\\') >= 0 || text.indexOf('\n') >= 0 || parts.length < 2 || parts.length > 3) {
            return null;
        }
        int comma = parts[0].indexOf(',');
        Map<String, String> tags = comma < 0 ? new LinkedHashMap<>() : pairs(parts[0].substring(comma + 1));
        Map<String, String> fields = pairs(parts[1]);
        String measurement = comma < 0 ? parts[0] : parts[0].substring(0, comma);
        if (tags == null || fields == null || measurement.isEmpty()) {
            return null;
        }
        tags.replaceAll((name, value) -> unquoted(value));
        return new EmqxInfluxLine(measurement, tags, fields, parts.length == 3 ? parts[2] : "");
    }

    private static @Nullable Map<String, String> pairs(String text) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String pair : text.split(",", -1)) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? "" : pair.substring(0, equals);
            String value = pair.substring(equals + 1);
            if (!NAME.matcher(name).matches() || unquoted(value).isEmpty()) {
                return null;
            }
            pairs.put(name, value);
        }
        return pairs;
    }

    private static String unquoted(String value) {
        Matcher text = TEXT.matcher(value);
        return text.matches() ? text.group(1) : value;
    }

    /** A field whose value is neither a text in quotes nor one placeholder, and would be a text here; null if there is none. */
    @Nullable
    String literalField() {
        return fields.entrySet().stream()
                .filter(field -> !TEXT.matcher(field.getValue()).matches()
                        && !VALUE.matcher(field.getValue()).matches())
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /** A field that is always a text there, and has the type of its placeholder here; null if there is none. */
    @Nullable
    String quotedField() {
        return fields.entrySet().stream()
                .filter(field -> QUOTED_VALUE.matcher(field.getValue()).matches())
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /** The fields as templates. */
    Map<String, String> templates() {
        Map<String, String> templates = new LinkedHashMap<>();
        fields.forEach((name, value) -> {
            Matcher typed = VALUE.matcher(value);
            templates.put(name, typed.matches() ? typed.group(1) : unquoted(value));
        });
        return templates;
    }
}
