// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
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
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One check: for which topics it is, and whether a payload is valid. */
@AnyThread
final class PayloadCheck {

    private static final int MAX_DEPTH = 100;
    private static final ObjectMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .build())
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final String name;
    private final ValidationConfig config;
    private final List<TopicFilter> topics;
    private final LiveChecks live;
    private final @Nullable SqlCheck statement;
    private volatile Map<String, Schema> files;

    /**
     * Reads the schemas. Blocks.
     *
     * @throws io.smqtt.config.ConfigurationException if one of them, or the statement, cannot be used
     */
    PayloadCheck(String name, ValidationConfig config, LiveChecks live) {
        this.name = name;
        this.config = config;
        this.topics = config.topics().stream().map(TopicFilter::of).toList();
        this.live = live;
        this.statement = SqlCheck.of(name, config.sql());
        this.files = SchemaFiles.read(name, config);
    }

    String name() {
        return name;
    }

    ValidationConfig config() {
        return config;
    }

    /** Reads the schemas again. Blocks; after a failure the former ones stay. */
    void reload() {
        files = SchemaFiles.read(name, config);
    }

    boolean isFor(TopicName topic) {
        for (TopicFilter filter : topics) {
            if (filter.matches(topic)) {
                return true;
            }
        }
        return false;
    }

    /** The first error; null if there is none. */
    private @Nullable String error(String schemaName, JsonNode document) {
        Schema schema = config.folder() == null ? live.schema(schemaName) : files.get(schemaName);
        if (schema == null) {
            return "there is no schema " + schemaName;
        }
        try {
            List<?> errors = schema.validate(document);
            return errors.isEmpty() ? null : String.valueOf(errors.get(0));
        } catch (FailFastAssertionException e) {
            return String.valueOf(e.getError());
        } catch (StackOverflowError e) {
            return "the schema " + schemaName + " refers to itself without an end";
        } catch (RuntimeException e) { // for instance of a number without bounds
            return "the schema " + schemaName + " cannot be applied: "
                    + e.getClass().getSimpleName();
        }
    }

    /** Why a payload is not valid; null if it is. Takes time. */
    @Nullable
    String problem(ClientIdentity client, ApplicationMessage message) {
        if (message.payload().size() > config.maxPayloadBytes()) {
            return "more than " + config.maxPayloadBytes() + " bytes";
        }
        String bySchemas = config.schemas().isEmpty() ? null : problemBySchemas(message);
        if (statement == null) {
            return bySchemas;
        }
        boolean isDecided = !config.schemas().isEmpty() && (bySchemas == null) == (config.strategy() == Strategy.ANY);
        return isDecided ? bySchemas : statement.problem(client, message);
    }

    private @Nullable String problemBySchemas(ApplicationMessage message) {
        JsonNode document;
        try {
            document = MAPPER.readTree(message.payload().toByteArray());
        } catch (IOException e) {
            return "not JSON, or deeper than " + MAX_DEPTH + " levels";
        }
        if (document == null || document.isMissingNode()) {
            return "empty";
        }
        String first = null;
        for (String schema : config.schemas()) {
            String error = error(schema, document);
            if (error == null && config.strategy() == Strategy.ANY) {
                return null;
            }
            if (error != null && config.strategy() == Strategy.ALL) {
                return error;
            }
            first = first == null ? error : first;
        }
        return first;
    }
}
