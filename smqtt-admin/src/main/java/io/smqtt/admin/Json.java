// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.util.RawValue;

/** Writes {@link Fields} as JSON. */
public final class Json {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}

    /** Writes maps, lists, texts, numbers, booleans and null. */
    static String of(Object fields) {
        try {
            return MAPPER.writeValueAsString(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("fields hold only what JSON knows", e);
        }
    }

    /**
     * Writes maps, lists, texts, numbers, booleans and null.
     *
     * @param fields the value
     * @return the JSON in UTF-8
     */
    public static byte[] bytesOf(Object fields) {
        try {
            return MAPPER.writeValueAsBytes(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("fields hold only what JSON knows", e);
        }
    }

    /**
     * Writes fields once, as a value that is part of others.
     *
     * @param fields the value
     * @return its JSON, which is written as it is
     */
    public static Object raw(Object fields) {
        return new RawValue(of(fields));
    }
}
