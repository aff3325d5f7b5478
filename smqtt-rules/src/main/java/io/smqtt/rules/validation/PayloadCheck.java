// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.networknt.schema.FailFastAssertionException;
import com.networknt.schema.Schema;
import io.smqtt.config.ValidationConfig;
import io.smqtt.config.ValidationConfig.Strategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One check: for which topics it is, and whether a payload is valid. */
@AnyThread
final class PayloadCheck {

    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final String name;
    private final ValidationConfig config;
    private final List<TopicFilter> topics;
    private volatile List<Schema> schemas;

    /**
     * Reads the schemas. Blocks.
     *
     * @throws io.smqtt.config.ConfigurationException if one cannot be used
     */
    PayloadCheck(String name, ValidationConfig config) {
        this.name = name;
        this.config = config;
        this.topics = config.topics().stream().map(TopicFilter::of).toList();
        this.schemas = SchemaFiles.read(name, config);
    }

    String name() {
        return name;
    }

    ValidationConfig config() {
        return config;
    }

    /** Reads the schemas again. Blocks; after a failure the former ones stay. */
    void reload() {
        schemas = SchemaFiles.read(name, config);
    }

    boolean isFor(TopicName topic) {
        for (TopicFilter filter : topics) {
            if (filter.matches(topic)) {
                return true;
            }
        }
        return false;
    }

    /** The first error, or none. */
    private static List<?> errors(Schema schema, JsonNode document) {
        try {
            return schema.validate(document);
        } catch (FailFastAssertionException e) {
            return List.of(e.getError());
        }
    }

    /** Why a payload is not valid; null if it is. Takes time. */
    @Nullable
    String problem(ApplicationMessage message) {
        if (message.payload().size() > config.maxPayloadBytes()) {
            return "more than " + config.maxPayloadBytes() + " bytes";
        }
        JsonNode document;
        try {
            document = MAPPER.readTree(message.payload().toByteArray());
        } catch (IOException e) {
            return "not JSON";
        }
        if (document == null || document.isMissingNode()) {
            return "empty";
        }
        String first = null;
        for (Schema schema : schemas) {
            List<?> errors = errors(schema, document);
            if (errors.isEmpty() && config.strategy() == Strategy.ANY) {
                return null;
            }
            if (!errors.isEmpty()) {
                first = first == null ? String.valueOf(errors.get(0)) : first;
                if (config.strategy() == Strategy.ALL) {
                    return first;
                }
            }
        }
        return first;
    }
}
