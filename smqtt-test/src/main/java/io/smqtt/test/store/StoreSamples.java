// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.Will;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicName;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Things to store, and texts to compare them by. */
public final class StoreSamples {

    private StoreSamples() {}

    static StoredSession session(long number, String clientId) {
        return new StoredSession(number, clientId, null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED);
    }

    static StoredSubscription subscription(String filter, int identifier) {
        return new StoredSubscription(filter, QoS.AT_LEAST_ONCE, false, true, identifier);
    }

    static ApplicationMessage message(String topic, String payload) {
        return ApplicationMessage.builder(topic)
                .payload(payload)
                .qos(QoS.AT_LEAST_ONCE)
                .build();
    }

    /**
     * A message with all properties, characters of several lengths, and a payload that is no text.
     *
     * @param acceptedAtNanos when the broker took it, by its clock
     * @param expirySeconds its expiry interval
     * @return the message
     */
    public static ApplicationMessage fullMessage(long acceptedAtNanos, long expirySeconds) {
        PublishProperties properties = PublishProperties.builder()
                .payloadUtf8()
                .contentType("text/plain")
                .responseTopic("answers/here")
                .correlationData(new byte[] {0, 1, (byte) 0xFF})
                .userProperty("name", "välue")
                .userProperty("name", "")
                .build();
        return new ApplicationMessage(
                0x1122_3344_5566_7788L,
                TopicName.of("höuse/🌡/kitchen"),
                Payload.of(new byte[] {0, (byte) 0x80, (byte) 0xFF, 10}),
                QoS.EXACTLY_ONCE,
                true,
                properties,
                expirySeconds,
                acceptedAtNanos,
                "the publisher");
    }

    static ApplicationMessage large(String topic, int bytes) {
        byte[] payload = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            payload[i] = (byte) (i * 31 + topic.hashCode());
        }
        return ApplicationMessage.builder(topic)
                .payload(Payload.of(payload))
                .qos(QoS.EXACTLY_ONCE)
                .build();
    }

    static StoredMessage queued(long sequence, ApplicationMessage message) {
        return queued(sequence, message, StoredDelivery.WAITING);
    }

    static StoredMessage queued(long sequence, ApplicationMessage message, StoredDelivery delivery) {
        return new StoredMessage(
                sequence, message, message.topic().value(), QoS.AT_LEAST_ONCE, false, new int[0], delivery);
    }

    static Will will(ApplicationMessage message) {
        return new Will(message, 4_294_967_295L);
    }

    /** All of a message but the moment at which it was accepted. */
    static String text(@Nullable ApplicationMessage message) {
        if (message == null) {
            return "nothing";
        }
        PublishProperties properties = message.properties();
        return String.join(
                "|",
                Long.toHexString(message.id()),
                message.topic().value(),
                Arrays.toString(message.payload().toByteArray()),
                message.qos().toString(),
                String.valueOf(message.retain()),
                String.valueOf(properties.encodedBytes()),
                properties.contentType() + properties.responseTopic() + properties.userProperties(),
                Arrays.toString(properties.correlationData()),
                String.valueOf(message.expiryIntervalSeconds()),
                message.publisherId());
    }

    /** All of a queued message. */
    static String text(StoredMessage message) {
        return String.join(
                "|",
                String.valueOf(message.sequence()),
                text(message.message()),
                message.clientFilter(),
                message.qos().toString(),
                String.valueOf(message.retain()),
                Arrays.toString(message.identifiers()),
                message.delivery().toString());
    }
}
