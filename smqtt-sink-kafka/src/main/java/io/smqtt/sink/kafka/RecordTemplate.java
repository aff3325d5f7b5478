// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** Makes records of rows. Immutable. */
@AnyThread
final class RecordTemplate {

    private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

    private final RowTemplate topic;
    private final @Nullable RowTemplate key;
    private final @Nullable RowTemplate value;
    private final boolean json;
    private final @Nullable RowTemplate timestamp;
    private final Map<String, RowTemplate> headers;

    /**
     * Reads the settings of an action.
     *
     * @throws io.smqtt.config.ConfigurationException if the topic is none of Kafka, or a placeholder is no column of the rule
     */
    RecordTemplate(SinkContext context) {
        SinkSettings settings = context.settings();
        topic = context.template(KafkaSinkFactory.TOPIC, settings.text(KafkaSinkFactory.TOPIC));
        key = templateOrNull(context, KafkaSinkFactory.KEY);
        value = templateOrNull(context, KafkaSinkFactory.VALUE);
        String text = settings.textOrNull(KafkaSinkFactory.VALUE);
        json = text != null && (text.startsWith("{") || text.startsWith("["));
        timestamp = templateOrNull(context, KafkaSinkFactory.TIMESTAMP);
        headers = settings.templates(KafkaSinkFactory.HEADERS);
        String fixed = fixedTopic();
        if (fixed != null && !isTopic(fixed)) {
            throw settings.problem(
                    KafkaSinkFactory.TOPIC, "must have letters, digits, dots, hyphens and underscores only");
        }
    }

    private static @Nullable RowTemplate templateOrNull(SinkContext context, String key) {
        String text = context.settings().textOrNull(key);
        return text == null || text.isEmpty() ? null : context.template(key, text);
    }

    private static boolean isTopic(String name) {
        return TOPIC.matcher(name).matches() && !name.equals(".") && !name.equals("..");
    }

    /** The topic of all rows; null if each row chooses its own. */
    @Nullable
    String fixedTopic() {
        return topic.isFixed() ? topic.text(Map.of()) : null;
    }

    /**
     * Makes the record of a row.
     *
     * @throws SinkException if the row has no valid topic or time
     */
    ProducerRecord<byte[], byte[]> record(Map<String, @Nullable Object> row) {
        String name = topic.text(row);
        if (!isTopic(name)) {
            throw new SinkException("the topic is not valid in Kafka", false);
        }
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(name, null, timestamp(row), key(row), value(row));
        headers.forEach((header, template) -> {
            Object found = template.value(row);
            if (found != null) {
                record.headers().add(header, bytes(found));
            }
        });
        return record;
    }

    private @Nullable Long timestamp(Map<String, @Nullable Object> row) {
        if (timestamp == null) {
            return null;
        }
        try {
            long millis = Long.parseLong(timestamp.text(row));
            if (millis >= 0) {
                return millis;
            }
        } catch (NumberFormatException e) {
            // as for a negative one
        }
        throw new SinkException("the timestamp is no number of milliseconds", false);
    }

    private byte @Nullable [] key(Map<String, @Nullable Object> row) {
        Object found = key == null ? null : key.value(row);
        return found == null ? null : bytes(found);
    }

    private byte[] value(Map<String, @Nullable Object> row) {
        if (value == null) {
            return RowText.json(row).getBytes(StandardCharsets.UTF_8);
        }
        return json ? value.json(row).getBytes(StandardCharsets.UTF_8) : bytes(value.value(row));
    }

    private static byte[] bytes(@Nullable Object found) {
        return found instanceof byte[] raw ? raw : RowText.plain(found).getBytes(StandardCharsets.UTF_8);
    }
}
