// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.re2j.Pattern;
import com.networknt.schema.FailFastAssertionException;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaException;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.regex.RegularExpression;
import io.smqtt.config.LinearPattern;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Parses JSON Schemas. Nothing is fetched from elsewhere: a reference to another document cannot be used. Patterns are in the syntax of RE2, whose time grows
 * with the length of a text only.
 */
@AnyThread
final class SchemaText {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int MAX_STEPS = 20_000;

    private SchemaText() {}

    /**
     * Parses a schema. Takes time for a large one.
     *
     * @throws IllegalArgumentException if it cannot be used
     */
    static Schema parse(String source) {
        List<String> refusedPatterns = new ArrayList<>();
        Schema schema;
        try {
            JsonNode document = MAPPER.readTree(source);
            if (!document.isObject() && !document.isBoolean()) {
                throw new IllegalArgumentException("a JSON Schema must be an object or a boolean");
            }
            SchemaRegistry registry = registry(refusedPatterns);
            requireValid(registry, document);
            schema = registry.getSchema(document);
            schema.initializeValidators();
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("a JSON Schema must be JSON", e);
        } catch (SchemaException e) {
            throw new IllegalArgumentException("no JSON Schema that can be used: " + e.getMessage(), e);
        }
        if (!refusedPatterns.isEmpty()) {
            throw new IllegalArgumentException("the pattern is not of RE2, or too large: " + refusedPatterns.get(0));
        }
        return schema;
    }

    /** The validator itself takes no notice of many mistakes. */
    private static void requireValid(SchemaRegistry registry, JsonNode document) {
        String dialect = document.path("$schema").asText(SpecificationVersion.DRAFT_2020_12.getDialectId());
        List<?> errors;
        try {
            errors = registry.getSchema(SchemaLocation.of(dialect)).validate(document);
        } catch (FailFastAssertionException e) {
            errors = List.of(e.getError());
        }
        if (!errors.isEmpty()) {
            throw new IllegalArgumentException("no JSON Schema: " + errors.get(0));
        }
    }

    /** Collects patterns that are not of RE2, because the validator leaves out a keyword whose pattern cannot be compiled. */
    private static SchemaRegistry registry(List<String> refusedPatterns) {
        SchemaRegistryConfig settings = SchemaRegistryConfig.builder()
                .regularExpressionFactory(pattern -> expression(pattern, refusedPatterns))
                .failFast(true)
                .locale(Locale.ENGLISH)
                .build();
        return SchemaRegistry.withDefaultDialect(
                SpecificationVersion.DRAFT_2020_12,
                builder -> builder.schemaRegistryConfig(settings)
                        .schemaLoader(loader -> loader.fetchRemoteResources(false)));
    }

    private static RegularExpression expression(String pattern, List<String> refused) {
        try {
            Pattern compiled = LinearPattern.compile(pattern, MAX_STEPS);
            return text -> compiled.matcher(text).find();
        } catch (IllegalArgumentException e) {
            refused.add(pattern);
            return text -> false;
        }
    }
}
