// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Values of rows as text and as JSON. Bytes that are not UTF-8 are written in Base64. */
@AnyThread
public final class RowText {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LARGEST_PARSED = 1 << 20;

    private RowText() {}

    /**
     * Writes a value as JSON.
     *
     * @param value a value of a row, or a row
     * @return JSON in one line
     */
    public static String json(@Nullable Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new SinkException("a row has a value that JSON cannot hold", false);
        }
    }

    /**
     * Writes a value as it stands in a text.
     *
     * @param value a value of a row
     * @return the characters of a text, {@code undefined} for null, JSON for lists and maps
     */
    public static String plain(@Nullable Object value) {
        if (value == null) {
            return "undefined";
        }
        if (value instanceof String text) {
            return text;
        }
        if (value instanceof Number || value instanceof Boolean) { // most values, without a look at their interfaces
            return value.toString();
        }
        return value instanceof Map || value instanceof List || value instanceof byte[]
                ? unquoted(json(value))
                : value.toString();
    }

    private static String unquoted(String json) {
        return json.length() > 1 && json.charAt(0) == '"' ? json.substring(1, json.length() - 1) : json;
    }

    /** The characters of a text between the quotes of JSON. */
    static String escaped(String text) {
        return unquoted(json(text));
    }

    /** The members of a text that is JSON; null if it is none. */
    static @Nullable Object parsed(String text) {
        if (text.length() > LARGEST_PARSED || text.isEmpty() || "{[".indexOf(text.charAt(0)) < 0) {
            return null;
        }
        try {
            return JSON.readValue(text, Object.class);
        } catch (IOException e) {
            return null;
        }
    }
}
