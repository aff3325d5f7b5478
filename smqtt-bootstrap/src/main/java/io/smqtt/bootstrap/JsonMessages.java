// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.UserProperty;
import io.smqtt.topic.TopicName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Application messages as JSON: payloads as text if they are UTF-8, and as Base64 if not. */
final class JsonMessages {

    private final JsonGenerator json;
    private final long nowNanos;

    /**
     * Writes messages.
     *
     * @param nowNanos the clock that messages were accepted by
     */
    JsonMessages(JsonGenerator json, long nowNanos) {
        this.json = json;
        this.nowNanos = nowNanos;
    }

    void write(ApplicationMessage message) throws IOException {
        json.writeStartObject();
        json.writeStringField("topic", message.topic().value());
        byte[] payload = message.payload().toByteArray();
        String text = text(payload);
        if (text != null) {
            json.writeStringField("payload", text);
        } else {
            json.writeBinaryField("payloadBase64", payload);
        }
        json.writeNumberField("qos", message.qos().level());
        json.writeBooleanField("retain", message.retain());
        json.writeNumberField("ageMillis", TimeUnit.NANOSECONDS.toMillis(nowNanos - message.acceptedAtNanos()));
        if (message.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
            json.writeNumberField("expirySeconds", message.expiryIntervalSeconds());
        }
        if (message.publisherId() != null) {
            json.writeStringField("publisherId", message.publisherId());
        }
        writeProperties(message.properties());
        json.writeEndObject();
    }

    private void writeProperties(PublishProperties properties) throws IOException {
        if (properties.isPayloadUtf8()) {
            json.writeBooleanField("payloadUtf8", true);
        }
        if (properties.contentType() != null) {
            json.writeStringField("contentType", properties.contentType());
        }
        if (properties.responseTopic() != null) {
            json.writeStringField("responseTopic", properties.responseTopic());
        }
        byte[] correlation = properties.correlationData();
        if (correlation != null) {
            json.writeBinaryField("correlationData", correlation);
        }
        if (!properties.userProperties().isEmpty()) {
            json.writeArrayFieldStart("userProperties");
            for (UserProperty property : properties.userProperties()) {
                json.writeArray(new String[] {property.name(), property.value()}, 0, 2);
            }
            json.writeEndArray();
        }
    }

    private static @Nullable String text(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /**
     * Reads a message.
     *
     * @param nowNanos the clock that messages are accepted by
     */
    static ApplicationMessage read(JsonNode node, long nowNanos) throws IOException {
        Payload payload = node.has("payloadBase64")
                ? Payload.of(node.get("payloadBase64").binaryValue())
                : Payload.of(node.path("payload").asText());
        JsonNode publisher = node.path("publisherId");
        return new ApplicationMessage(
                TopicName.of(node.path("topic").asText()),
                payload,
                QoS.of(node.path("qos").asInt()),
                node.path("retain").asBoolean(),
                properties(node),
                node.path("expirySeconds").asLong(ApplicationMessage.NEVER),
                nowNanos - TimeUnit.MILLISECONDS.toNanos(node.path("ageMillis").asLong()),
                publisher.isTextual() ? publisher.asText() : null);
    }

    private static PublishProperties properties(JsonNode node) throws IOException {
        PublishProperties.Builder properties = PublishProperties.builder();
        if (node.path("payloadUtf8").asBoolean()) {
            properties.payloadUtf8();
        }
        if (node.has("contentType")) {
            properties.contentType(node.get("contentType").asText());
        }
        if (node.has("responseTopic")) {
            properties.responseTopic(node.get("responseTopic").asText());
        }
        if (node.has("correlationData")) {
            properties.correlationData(node.get("correlationData").binaryValue());
        }
        for (JsonNode property : node.path("userProperties")) {
            properties.userProperty(property.path(0).asText(), property.path(1).asText());
        }
        return properties.build();
    }
}
