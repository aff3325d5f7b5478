// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.netty.buffer.ByteBuf;
import io.smqtt.codec.PublishEncoder;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;

/** The messages that are measured: a telemetry value of 64 bytes. */
final class Messages {

    static final String TOPIC = "site/7/device/4711/temperature";

    static final ApplicationMessage PLAIN = message(PublishProperties.EMPTY);

    static final ApplicationMessage WITH_PROPERTIES = message(PublishProperties.builder()
            .contentType("application/json")
            .userProperty("trace", "4bf92f3577b34da6")
            .userProperty("unit", "celsius")
            .build());

    private Messages() {}

    /** A message of its own, for encoders that recognise the last one. */
    static ApplicationMessage message(PublishProperties properties) {
        return ApplicationMessage.builder(TOPIC)
                .payload("x".repeat(64))
                .qos(QoS.AT_LEAST_ONCE)
                .properties(properties)
                .build();
    }

    /** Appends a PUBLISH without alias, identifiers or expiry. */
    static void encode(
            PublishEncoder encoder,
            ByteBuf out,
            ProtocolVersion version,
            ApplicationMessage message,
            QoS qos,
            int packetId) {
        encoder.encode(
                out,
                version,
                message,
                qos,
                false,
                false,
                packetId,
                PublishEncoder.NO_IDENTIFIERS,
                ApplicationMessage.NEVER,
                0,
                true);
    }
}
