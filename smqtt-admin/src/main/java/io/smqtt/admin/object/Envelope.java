// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.admin.JsonFields;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The payload of an object's retained message.
 *
 * @param origin who made the version
 * @param version the version
 * @param value the fields of the value; null for a deleted object
 */
record Envelope(String origin, long version, @Nullable JsonFields value) {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String ORIGIN = "origin";
    private static final String VERSION = "version";
    private static final String VALUE = "value";

    boolean isDeleted() {
        return value == null;
    }

    /**
     * Reads a payload.
     *
     * @throws IllegalArgumentException if it is none of an object
     */
    static Envelope parse(byte[] payload) {
        JsonFields fields = JsonFields.parse(new String(payload, StandardCharsets.UTF_8));
        return new Envelope(
                fields.text(ORIGIN),
                fields.number(VERSION, 0, Long.MAX_VALUE - 1),
                fields.has(VALUE) ? fields.object(VALUE) : null);
    }

    /** Writes a payload; the value is null for a deleted object. */
    static byte[] write(String origin, long version, @Nullable Map<String, Object> value) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(ORIGIN, origin);
        all.put(VERSION, version);
        if (value != null) {
            all.put(VALUE, value);
        }
        try {
            return MAPPER.writeValueAsBytes(all);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("fields hold only what JSON knows", e);
        }
    }
}
