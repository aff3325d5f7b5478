// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a JSON object, read strictly: a field that is missing or of another type throws {@link
 * InvalidFieldException}, whose message names it. Immutable as long as the object is.
 *
 * @param node the object
 */
public record JsonFields(JsonNode node) {

    /** Elements of a body: an array of 8 MiB could have millions of empty objects, of a hundred bytes each in memory. */
    private static final long MOST_TOKENS = 500_000;

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final ObjectMapper BODIES = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxTokenCount(MOST_TOKENS)
                            .build())
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /**
     * Reads the body of a request.
     *
     * @param body the text
     * @return its fields
     * @throws InvalidFieldException if it is not one JSON object
     */
    public static JsonFields parse(String body) {
        return object(read(BODIES, body));
    }

    /**
     * Reads what another node has sent, of any number of elements.
     *
     * @param text the text
     * @return its fields
     * @throws InvalidFieldException if it is not one JSON object
     */
    public static JsonFields parseTrusted(String text) {
        return object(read(MAPPER, text));
    }

    private static JsonFields object(@Nullable JsonNode node) {
        if (node == null || !node.isObject()) {
            throw new InvalidFieldException("the body must be one JSON object");
        }
        return new JsonFields(node);
    }

    /**
     * Reads the body of a request that has several objects.
     *
     * @param body the text
     * @return the fields of each object
     * @throws InvalidFieldException if it is not one JSON array of objects
     */
    public static List<JsonFields> parseArray(String body) {
        JsonNode node = read(BODIES, body);
        if (node == null || !node.isArray()) {
            throw new InvalidFieldException("the body must be one JSON array of objects");
        }
        List<JsonFields> all = new ArrayList<>();
        for (JsonNode element : node) {
            if (!element.isObject()) {
                throw new InvalidFieldException("the body must be one JSON array of objects");
            }
            all.add(new JsonFields(element));
        }
        return all;
    }

    /**
     * Reads the body of a request that has several texts.
     *
     * @param body the text
     * @return the texts
     * @throws InvalidFieldException if it is not one JSON array of texts
     */
    public static List<String> parseTexts(String body) {
        JsonNode node = read(BODIES, body);
        List<String> all = new ArrayList<>();
        for (JsonNode element : node == null || !node.isArray() ? List.<JsonNode>of() : node) {
            all.add(element.isTextual() ? element.textValue() : "");
        }
        if (node == null || !node.isArray() || all.contains("")) {
            throw new InvalidFieldException("the body must be one JSON array of texts");
        }
        return all;
    }

    /**
     * The fields of maps, lists, texts, numbers, booleans and null.
     *
     * @param fields an object
     * @return its fields
     */
    public static JsonFields of(Map<String, ?> fields) {
        return new JsonFields(MAPPER.valueToTree(fields));
    }

    /**
     * The object as maps, lists, texts, numbers, booleans and null.
     *
     * @return the fields by name
     */
    public Map<String, @Nullable Object> toMap() {
        return MAPPER.convertValue(node, new TypeReference<Map<String, @Nullable Object>>() {});
    }

    private static @Nullable JsonNode read(ObjectMapper mapper, String body) {
        try {
            return mapper.readTree(body);
        } catch (StreamConstraintsException e) {
            throw new InvalidFieldException(
                    "the body has too many elements, too deep ones, or too long a text or number");
        } catch (JsonProcessingException e) { // the parser's words quote what it read
            throw new InvalidFieldException("the body is no JSON");
        }
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
     * @throws InvalidFieldException if it is missing or no text
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
     * @throws InvalidFieldException if it is no text
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
     * @throws InvalidFieldException if it is missing, no integer, or out of these
     */
    public long number(String name, long least, long most) {
        JsonNode field = field(name);
        if (!field.canConvertToExactIntegral() || !field.canConvertToLong()) { // 1.0 is an integer, as in JSON Schema
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
     * @throws InvalidFieldException if it is missing or no boolean
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
     * @throws InvalidFieldException if it is missing or not Base64
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
     * @throws InvalidFieldException if it is missing or no object
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
     * @throws InvalidFieldException if it is no array
     */
    public Iterable<JsonNode> elements(String name) {
        JsonNode field = node.path(name);
        if (!field.isMissingNode() && !field.isArray()) {
            throw wrong(name, "must be an array");
        }
        return field;
    }

    /**
     * The texts of an array.
     *
     * @param name its name
     * @return the texts; none if the field is missing
     * @throws InvalidFieldException if it is no array of texts
     */
    public List<String> texts(String name) {
        List<String> all = new ArrayList<>();
        for (JsonNode element : elements(name)) {
            if (!element.isTextual()) {
                throw wrong(name, "must be an array of texts");
            }
            all.add(element.textValue());
        }
        return all;
    }

    private JsonNode field(String name) {
        JsonNode field = node.get(name);
        if (field == null) {
            throw wrong(name, "is missing");
        }
        return field;
    }

    private static InvalidFieldException wrong(String name, String how) {
        return new InvalidFieldException("the field " + name + " " + how);
    }
}
