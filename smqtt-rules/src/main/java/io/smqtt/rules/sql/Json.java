// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and writes JSON as lists and maps, by Jackson's streaming parser. Of equal keys the last one counts. */
final class Json {

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
            .disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(Values.DEPTH - 10)
                    .maxNumberLength(400)
                    .maxNameLength(10_000)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private Json() {}

    /** A parser of text or of UTF-8. */
    static JsonParser parser(Object source) throws IOException {
        return source instanceof byte[] bytes ? FACTORY.createParser(bytes) : FACTORY.createParser((String) source);
    }

    /**
     * Reads a whole document.
     *
     * @param source text or bytes
     * @param what how the source is called if it is not JSON
     * @return a value as expressions have it
     */
    static Object read(Object source, String what) {
        try (JsonParser parser = parser(source)) {
            JsonToken token = parser.nextToken();
            if (token == null) {
                throw new RuleFailure(what + " is empty, not JSON");
            }
            Object value = Values.element(value(parser, token));
            end(parser);
            return value;
        } catch (IOException e) {
            throw notJson(what, e);
        }
    }

    /** Fails unless the document ends here. */
    static void end(JsonParser parser) throws IOException {
        if (parser.nextToken() != null) {
            throw new RuleFailure("there is more than one JSON value");
        }
    }

    /** The failure for a source that cannot be read. It contains nothing of the source but single characters. */
    static RuleFailure notJson(String what, IOException cause) {
        String reason =
                cause instanceof JsonProcessingException error ? error.getOriginalMessage() : cause.getMessage();
        String first = reason == null ? "" : reason.lines().findFirst().orElse("");
        return new RuleFailure(
                what + " is not JSON: " + (first.length() > 160 ? first.substring(0, 160) + "…" : first));
    }

    /** The value that begins with the token, in the form that lists and maps have; the parser is at its last token afterwards. */
    static @Nullable Object value(JsonParser parser, JsonToken token) throws IOException {
        return switch (token) {
            case START_OBJECT -> {
                Map<String, @Nullable Object> map = new LinkedHashMap<>();
                for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
                    map.put(name, value(parser, parser.nextToken()));
                }
                yield map;
            }
            case START_ARRAY -> {
                List<@Nullable Object> list = new ArrayList<>();
                for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
                    list.add(value(parser, next));
                }
                yield list;
            }
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT -> integer(parser);
            case VALUE_NUMBER_FLOAT -> Values.finite(parser.getDoubleValue());
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> null;
        };
    }

    private static Object integer(JsonParser parser) throws IOException {
        return parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                ? Values.narrow(parser.getBigIntegerValue())
                : (Object) parser.getLongValue();
    }

    /** The value as JSON. Undefined is null. */
    static String write(@Nullable Object value, Meter meter) {
        long size = Values.size(value, meter);
        meter.probe(size);
        StringWriter text = new StringWriter((int) Math.min(size + 16, 1 << 16));
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            write(generator, value, meter);
        } catch (IOException e) {
            throw new RuleFailure("the value cannot be written as JSON: " + e.getMessage());
        }
        String json = text.toString();
        meter.make(json.length());
        return json;
    }

    private static void write(JsonGenerator generator, @Nullable Object value, Meter meter) throws IOException {
        if (value instanceof Map<?, ?> map) {
            generator.writeStartObject();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                generator.writeFieldName((String) entry.getKey());
                write(generator, entry.getValue(), meter);
            }
            generator.writeEndObject();
        } else if (value instanceof List<?> list) {
            generator.writeStartArray();
            for (Object element : list) {
                write(generator, element, meter);
            }
            generator.writeEndArray();
        } else {
            writeScalar(generator, value, meter);
        }
    }

    private static void writeScalar(JsonGenerator generator, @Nullable Object value, Meter meter) throws IOException {
        if (value == null || value == Values.NULL) {
            generator.writeNull();
        } else if (value instanceof Boolean bool) {
            generator.writeBoolean(bool);
        } else if (value instanceof BigInteger big) {
            generator.writeNumber(big);
        } else if (value instanceof Double number) {
            generator.writeNumber(number);
        } else if (value instanceof Number number) {
            generator.writeNumber(number.longValue());
        } else {
            generator.writeString(Values.text(value, meter));
        }
    }
}
