// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaException;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.regex.RegularExpression;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ValidationConfig;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Reads the JSON Schemas of a check. Nothing is fetched from elsewhere: a reference to another document cannot be used. Patterns are in the syntax of RE2,
 * whose time grows with the length of a text only.
 */
@AnyThread
final class SchemaFiles {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private SchemaFiles() {}

    /** Refuses patterns that are not of RE2: they are collected here, because the validator leaves out a keyword whose pattern cannot be compiled. */
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
            Pattern compiled = Pattern.compile(pattern);
            return text -> compiled.matcher(text).find();
        } catch (PatternSyntaxException e) {
            refused.add(pattern);
            return text -> false;
        }
    }

    /**
     * Reads the schemas of a check. Blocks.
     *
     * @throws ConfigurationException if one cannot be used
     */
    static List<Schema> read(String name, ValidationConfig config) {
        List<Schema> all = new ArrayList<>();
        for (String file : config.schemas()) {
            all.add(read(name, config.folder().resolve(file)));
        }
        return List.copyOf(all);
    }

    private static Schema read(String name, Path file) {
        String key = "validations." + name + ".schemas";
        try {
            JsonNode document = MAPPER.readTree(Files.readAllBytes(file));
            if (!document.isObject() && !document.isBoolean()) {
                throw new ConfigurationException(key, file + " is no JSON Schema: it must be an object or a boolean");
            }
            List<String> refusedPatterns = new ArrayList<>();
            Schema schema = registry(refusedPatterns).getSchema(document);
            schema.initializeValidators();
            if (!refusedPatterns.isEmpty()) {
                throw new ConfigurationException(
                        key, file + " has a pattern that is not of RE2: " + refusedPatterns.get(0));
            }
            return schema;
        } catch (IOException e) {
            throw new ConfigurationException(
                    key, file + " cannot be read: " + e.getClass().getSimpleName());
        } catch (SchemaException e) {
            throw new ConfigurationException(key, file + " is no JSON Schema that can be used: " + e.getMessage());
        }
    }
}
