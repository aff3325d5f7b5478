// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a JSON object, read strictly: a field that is missing or of another type throws {@link
 * IllegalArgumentException}, whose message names it. Immutable as long as the object is.
 *
 * @param node the object
 */
public record JsonFields(JsonNode node) {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /**
     * Reads the body of a request.
     *
     * @param body the text
     * @return its fields
     * @throws IllegalArgumentException if it is not one JSON object
     */
    public static JsonFields parse(String body) {
        JsonNode node;
        try {
            node = MAPPER.readTree(body);
        } catch (JsonProcessingException e) { // the parser's words quote what it read
            throw new IllegalArgumentException("the body is no JSON");
        }
        if (node == null || !node.isObject()) {
            throw new IllegalArgumentException("the body must be one JSON object");
        }
        return new JsonFields(node);
    }

    /**
     * Tells whether there is a field.
     *
     * @param name its name
     * @return true also if it is null
     */
    public boolean has(String name) {
        return node.has(name);
    }

    /**
     * A text.
     *
     * @param name its name
     * @return the text
     * @throws IllegalArgumentException if it is missing or no text
     */
    public String text(String name) {
        JsonNode field = field(name);
        if (!field.isTextual()) {
            throw wrong(name, "must be a text");
        }
        return field.textValue();
    }

    /**
     * A text that may be missing.
     *
     * @param name its name
     * @return the text; null if the field is missing or null
     * @throws IllegalArgumentException if it is no text
     */
    public @Nullable String textOrNull(String name) {
        return node.path(name).isMissingNode() || node.path(name).isNull() ? null : text(name);
    }

    /**
     * An integer.
     *
     * @param name its name
     * @param least the least that it may be
     * @param most the most that it may be
     * @return the integer
     * @throws IllegalArgumentException if it is missing, no integer, or out of these
     */
    public long number(String name, long least, long most) {
        JsonNode field = field(name);
        if (!field.isIntegralNumber() || !field.canConvertToLong()) {
            throw wrong(name, "must be an integer");
        }
        long number = field.longValue();
        if (number < least || number > most) {
            throw wrong(name, "must be " + least + " to " + most);
        }
        return number;
    }

    /**
     * A boolean.
     *
     * @param name its name
     * @return the boolean
     * @throws IllegalArgumentException if it is missing or no boolean
     */
    public boolean flag(String name) {
        JsonNode field = field(name);
        if (!field.isBoolean()) {
            throw wrong(name, "must be true or false");
        }
        return field.booleanValue();
    }

    /**
     * Bytes in Base64.
     *
     * @param name the name of the field
     * @return the bytes
     * @throws IllegalArgumentException if it is missing or not Base64
     */
    public byte[] bytes(String name) {
        try {
            return Base64.getDecoder().decode(text(name));
        } catch (IllegalArgumentException e) {
            throw wrong(name, "must be Base64");
        }
    }

    /**
     * An object.
     *
     * @param name its name
     * @return its fields
     * @throws IllegalArgumentException if it is missing or no object
     */
    public JsonFields object(String name) {
        JsonNode field = field(name);
        if (!field.isObject()) {
            throw wrong(name, "must be an object");
        }
        return new JsonFields(field);
    }

    /**
     * The elements of an array.
     *
     * @param name its name
     * @return the elements; none if the field is missing
     * @throws IllegalArgumentException if it is no array
     */
    public Iterable<JsonNode> elements(String name) {
        JsonNode field = node.path(name);
        if (!field.isMissingNode() && !field.isArray()) {
            throw wrong(name, "must be an array");
        }
        return field;
    }

    private JsonNode field(String name) {
        JsonNode field = node.get(name);
        if (field == null) {
            throw wrong(name, "is missing");
        }
        return field;
    }

    private static IllegalArgumentException wrong(String name, String how) {
        return new IllegalArgumentException("the field " + name + " " + how);
    }
}
