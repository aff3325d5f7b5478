// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.JsonFields;
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
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Application messages as JSON: payloads as text if they are UTF-8, and as Base64 if not. */
final class JsonMessages {

    /** The largest interval of MQTT; as a session's expiry interval it means never. */
    static final long MAX_INTERVAL_SECONDS = 4_294_967_295L;

    private static final long MAX_AGE_MILLIS = TimeUnit.DAYS.toMillis(50_000); // what is older has expired, too

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
        if (message.id() != ApplicationMessage.NO_ID) {
            json.writeStringField("id", HexFormat.of().toHexDigits(message.id()));
        }
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
        if (message.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
            json.writeNumberField("ageMillis", ageMillis(message)); // nobody looks at the clock for others
            json.writeNumberField("expirySeconds", message.expiryIntervalSeconds());
        }
        if (message.publisherId() != null) {
            json.writeStringField("publisherId", message.publisherId());
        }
        writeProperties(message.properties());
        json.writeEndObject();
    }

    private long ageMillis(ApplicationMessage message) {
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(nowNanos - message.acceptedAtNanos()));
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
     * @throws IllegalArgumentException if it is none
     * @throws io.smqtt.topic.InvalidTopicException if its topic is none
     */
    static ApplicationMessage read(JsonFields fields, long nowNanos) {
        Payload payload = fields.has("payloadBase64")
                ? Payload.of(fields.bytes("payloadBase64"))
                : Payload.of(fields.text("payload"));
        boolean expires = fields.has("expirySeconds");
        long ageMillis = expires ? fields.number("ageMillis", 0, MAX_AGE_MILLIS) : 0;
        return new ApplicationMessage(
                fields.has("id") ? id(fields.text("id")) : ApplicationMessage.NO_ID,
                TopicName.of(fields.text("topic")),
                payload,
                QoS.of((int) fields.number("qos", 0, 2)),
                fields.flag("retain"),
                properties(fields),
                expires ? fields.number("expirySeconds", 0, MAX_INTERVAL_SECONDS) : ApplicationMessage.NEVER,
                nowNanos - TimeUnit.MILLISECONDS.toNanos(ageMillis),
                fields.textOrNull("publisherId"));
    }

    private static long id(String digits) {
        try {
            return HexFormat.fromHexDigitsToLong(digits);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("id must be 1 to 16 hexadecimal digits, and is " + digits, e);
        }
    }

    private static PublishProperties properties(JsonFields fields) {
        PublishProperties.Builder properties = PublishProperties.builder();
        if (fields.has("payloadUtf8") && fields.flag("payloadUtf8")) {
            properties.payloadUtf8();
        }
        if (fields.has("contentType")) {
            properties.contentType(fields.text("contentType"));
        }
        if (fields.has("responseTopic")) {
            properties.responseTopic(fields.text("responseTopic"));
        }
        if (fields.has("correlationData")) {
            properties.correlationData(fields.bytes("correlationData"));
        }
        for (JsonNode property : fields.elements("userProperties")) {
            if (property.size() != 2) {
                throw new IllegalArgumentException("the field userProperties must have pairs");
            }
            properties.userProperty(property.get(0).asText(), property.get(1).asText());
        }
        return properties.build();
    }
}
