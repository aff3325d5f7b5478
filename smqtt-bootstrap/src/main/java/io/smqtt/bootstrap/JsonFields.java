// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a JSON object, read strictly: one that is missing or of another type is told by its name, as a
 * {@link BadDataException}.
 *
 * @param node the object
 */
record JsonFields(JsonNode node) {

    boolean has(String name) {
        return node.has(name);
    }

    String text(String name) {
        JsonNode field = field(name);
        if (!field.isTextual()) {
            throw wrong(name, "must be a text");
        }
        return field.textValue();
    }

    /** Null if the field is missing or null. */
    @Nullable
    String textOrNull(String name) {
        return node.path(name).isMissingNode() || node.path(name).isNull() ? null : text(name);
    }

    long number(String name, long least, long most) {
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

    boolean flag(String name) {
        JsonNode field = field(name);
        if (!field.isBoolean()) {
            throw wrong(name, "must be true or false");
        }
        return field.booleanValue();
    }

    /** Bytes in Base64. */
    byte[] bytes(String name) {
        try {
            return Base64.getDecoder().decode(text(name));
        } catch (IllegalArgumentException e) {
            throw wrong(name, "must be Base64");
        }
    }

    JsonFields object(String name) {
        JsonNode field = field(name);
        if (!field.isObject()) {
            throw wrong(name, "must be an object");
        }
        return new JsonFields(field);
    }

    /** The elements of an array; none if the field is missing. */
    Iterable<JsonNode> elements(String name) {
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

    private static BadDataException wrong(String name, String how) {
        return new BadDataException("the field " + name + " " + how);
    }
}
