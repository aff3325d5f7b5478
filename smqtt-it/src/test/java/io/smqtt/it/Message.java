// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message as a client library sends or reports it. Also the form in which it travels to and from the clients in other languages.
 *
 * @param userProperties {@code name=value}, in order
 * @param correlation correlation data in lower-case hexadecimal
 * @param expiry message expiry interval in seconds
 * @param payloadFormat payload format indicator
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Message(
        String topic,
        String payload,
        int qos,
        boolean retain,
        List<String> userProperties,
        @Nullable String responseTopic,
        @Nullable String correlation,
        @Nullable Long expiry,
        @Nullable String contentType,
        @Nullable Integer payloadFormat) {

    Message {
        userProperties = userProperties == null ? List.of() : List.copyOf(userProperties); // null: absent in JSON
    }

    static Message of(String topic, String payload, int qos) {
        return new Message(topic, payload, qos, false, List.of(), null, null, null, null, null);
    }

    Message retained() {
        return new Message(
                topic,
                payload,
                qos,
                true,
                userProperties,
                responseTopic,
                correlation,
                expiry,
                contentType,
                payloadFormat);
    }

    Message with(String... properties) {
        return new Message(
                topic,
                payload,
                qos,
                retain,
                List.of(properties),
                responseTopic,
                correlation,
                expiry,
                contentType,
                payloadFormat);
    }

    Message text(String type) {
        return new Message(topic, payload, qos, retain, userProperties, responseTopic, correlation, expiry, type, 1);
    }

    Message replyTo(@Nullable String topicName, String correlationHex) {
        return new Message(
                topic,
                payload,
                qos,
                retain,
                userProperties,
                topicName,
                correlationHex,
                expiry,
                contentType,
                payloadFormat);
    }

    Message expiringAfter(long seconds) {
        return new Message(
                topic,
                payload,
                qos,
                retain,
                userProperties,
                responseTopic,
                correlation,
                seconds,
                contentType,
                payloadFormat);
    }

    /** Topic, payload, QoS and RETAIN as one line, for comparison. */
    String brief() {
        return topic + " '" + payload + "' qos " + qos + (retain ? " retained" : "");
    }
}
