// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A check of the payloads of some topics by JSON Schema or a statement: {@code smqtt.validations.<name>.*}. Immutable.
 *
 * @param topics topic filters: messages of clients to topics that one of them matches are checked
 * @param folder the folder of the schemas, read at the start and again by a reload; without it the schemas are those of the API
 * @param schemas names of files in the folder, or of schemas of the API, each a JSON Schema (draft 4 to 2020-12; without {@code $schema} 2020-12)
 * @param sql a statement of the rule language, instead of schemas or beside them: a payload is valid by it if it selects the message. Its FROM is not used
 * @param strategy whether a payload must be valid by all schemas and the statement, or by any of them
 * @param failureAction what becomes of a message that is not valid
 * @param redirectTopic the topic to which a message that is not valid is published instead; empty for none
 * @param logFailures whether a message that is not valid is logged, at most one a minute
 * @param maxPayloadBytes maximum size of a payload that is checked; a larger one is not valid
 * @param timeout the time for a check, waiting included; a message whose check takes longer is not valid
 */
@ConfigBlock("validations.<name>")
public record ValidationConfig(
        @Setting(required = true) List<String> topics,
        @Nullable Path folder,
        List<String> schemas,
        String sql,
        @Setting("all") Strategy strategy,
        @Setting("drop") FailureAction failureAction,
        String redirectTopic,
        @Setting("true") boolean logFailures,

        @Setting(value = "256KiB", min = "1", max = "256MiB")
        long maxPayloadBytes,

        @Setting(value = "1s", min = "10ms", max = "20s") Duration timeout) {

    private static final String BLOCK = "validations.<name>.";

    /** How the results of several schemas, and of the statement, count. */
    public enum Strategy {
        /** A payload is valid by each of them. */
        ALL,
        /** A payload is valid by one of them at least. */
        ANY
    }

    /** What becomes of a message that is not valid. */
    public enum FailureAction {
        /** It is refused (0x83). */
        DROP,
        /** It is refused, and its client is disconnected. */
        DISCONNECT,
        /** It is published nevertheless. */
        IGNORE
    }

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a topic is no topic filter, a schema is no name of a file, or the other topic is no topic name
     */
    public ValidationConfig {
        topics = List.copyOf(topics);
        schemas = List.copyOf(schemas);
        Check.that(!topics.isEmpty(), BLOCK + "topics", "must be set");
        Check.that(!schemas.isEmpty() || !sql.isEmpty(), BLOCK + "schemas", "must be set, or sql");
        Check.that(folder == null || !schemas.isEmpty(), BLOCK + "folder", "needs schemas");
        for (String topic : topics) {
            Check.that(!SharedFilter.isShared(topic), BLOCK + "topics", "cannot have $share: " + topic);
            parsed(BLOCK + "topics", topic, TopicFilter::of);
        }
        for (String schema : schemas) {
            boolean plain = !schema.isEmpty() && schema.indexOf('/') < 0 && schema.indexOf('\\') < 0;
            Check.that(plain && !schema.startsWith("."), BLOCK + "schemas", "must be names: " + schema);
        }
        if (!redirectTopic.isEmpty()) {
            parsed(BLOCK + "redirect-topic", redirectTopic, TopicName::of);
        }
    }

    private interface Parser {
        Object parse(String text);
    }

    private static void parsed(String key, String text, Parser parser) {
        try {
            parser.parse(text);
        } catch (InvalidTopicException e) {
            throw new ConfigurationException(key, "has no such topic: " + text);
        }
    }

    /**
     * Creates a check with defaults.
     *
     * @param folder the folder of the schemas
     * @param schema the name of a file in it
     * @param topics topic filters
     * @return a builder, for one thread
     */
    public static ValidationConfigBuilder builder(Path folder, String schema, String... topics) {
        return new ValidationConfigBuilder()
                .folder(folder)
                .schemas(List.of(schema))
                .topics(List.of(topics));
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public ValidationConfigBuilder toBuilder() {
        return new ValidationConfigBuilder(this);
    }
}
