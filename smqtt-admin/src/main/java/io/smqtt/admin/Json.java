// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/** Writes {@link Fields} as JSON. */
final class Json {

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
}
