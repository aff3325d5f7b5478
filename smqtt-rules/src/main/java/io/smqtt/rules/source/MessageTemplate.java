// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SourceConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes messages of what arrives. Immutable. */
@AnyThread
final class MessageTemplate {

    /** The bytes of a PUBLISH beside topic and payload, at most: type and length 5, length of the topic 2, packet identifier 2, properties 1. */
    private static final int PACKET_BYTES = 10;

    private final RowTemplate topic;
    private final boolean ofBroker;
    private final RowTemplate payload;
    private final boolean json;
    private final QoS qos;
    private final boolean retain;

    /**
     * Parses the templates of a source.
     *
     * @param name of the source
     * @throws ConfigurationException if one is not valid
     */
    MessageTemplate(String name, SourceConfig config) {
        topic = parse(name, "topic", config.topic());
        ofBroker = config.topic().startsWith("$") && !config.topic().startsWith("${");
        payload = parse(
                name,
                SourceOutput.PAYLOAD,
                config.payload().isEmpty() ? "${" + SourceOutput.PAYLOAD + '}' : config.payload());
        json = config.payload().startsWith("{") || config.payload().startsWith("[");
        qos = QoS.values()[config.qos()];
        retain = config.retain();
        if (topic.isFixed()) {
            try {
                message(Map.of());
            } catch (IllegalArgumentException e) {
                throw new ConfigurationException("sources." + name + ".topic", "is not valid: " + e.getMessage());
            }
        }
    }

    private static RowTemplate parse(String name, String key, String text) {
        try {
            return RowTemplate.parse(text);
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException("sources." + name + '.' + key, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Makes a message.
     *
     * @throws IllegalArgumentException if its topic is not valid, or a placeholder of it has no value. Nothing that arrives chooses a topic of the
     *     broker, which begins with a dollar sign
     */
    ApplicationMessage message(Map<String, @Nullable Object> columns) {
        String name = topic.textOrNull(columns);
        if (name == null) {
            throw new IllegalArgumentException("a placeholder of the topic has no value");
        }
        if (name.startsWith("$") && !ofBroker) {
            throw new IllegalArgumentException("the topic is one of the broker");
        }
        return ApplicationMessage.builder(name)
                .payload(json ? Payload.of(payload.json(columns)) : payload(payload.value(columns)))
                .qos(qos)
                .retain(retain)
                .build();
    }

    /**
     * Requires that a client could have published the message, too.
     *
     * @throws IllegalArgumentException if its packet were larger than {@code limits.max-packet-bytes}; the message continues a sentence
     */
    static void requireSize(ApplicationMessage message, LimitsConfig limits) {
        long bytes = PACKET_BYTES
                + message.topic().utf8().length
                + (long) message.payload().size();
        if (bytes > limits.maxPacketBytes()) {
            throw new IllegalArgumentException("it is larger than limits.max-packet-bytes");
        }
    }

    private static Payload payload(@Nullable Object value) {
        return value instanceof byte[] bytes
                ? Payload.of(bytes)
                : Payload.of(value == null ? "" : RowText.plain(value));
    }
}
