// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A bridge to a HiveMQ CE. Run by {@code smqtt-it/prove bridge-hivemq}, with kills of both brokers under load, which {@link BridgeKillIT} does. */
class BridgeHivemqProof extends BridgePeerProof {

    private static final int PAYLOAD_FORMAT = 0x01;
    private static final int EXPIRY = 0x02;
    private static final int CONTENT_TYPE = 0x03;
    private static final int RESPONSE_TOPIC = 0x08;
    private static final int CORRELATION_DATA = 0x09;
    private static final long HOUR = 3_600;

    static Stream<String> versions() {
        return Stream.of("5", "3.1.1");
    }

    @Override
    JavaPeer peer(Path home, int port) throws IOException {
        return JavaPeer.hivemq(home, port);
    }

    @Test
    void propertiesGoAlongInBothDirections() throws Exception {
        int port = LoopbackPorts.one();
        try (CapturedProcess hivemq = peer(port);
                BrokerProcess broker = broker(port, "5");
                RawClient here = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient there = RawClient.to(BridgeIT.address(port), ProtocolVersion.MQTT_5);
                RawClient publisherHere = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient publisherThere = RawClient.to(BridgeIT.address(port), ProtocolVersion.MQTT_5)) {
            publisherHere.connect("publisher-here");
            publisherThere.connect("publisher-there");
            here.connect("here");
            here.subscribe("in/#", 0);
            there.connect("there");
            there.subscribe("plant/#", 0);
            BridgeIT.awaitForwarding(publisherHere, there, "out/up", "plant/out/up");
            BridgeIT.awaitForwarding(publisherThere, here, "in/up", "in/up");
            here.expectNothingBut(packet -> {});
            there.expectNothingBut(packet -> {});

            publisherHere.publish(message("out/a"));
            ReceivedPacket arrivedThere = there.expectPublish("plant/out/a", "x");
            publisherThere.publish(message("in/a"));
            ReceivedPacket arrivedHere = here.expectPublish("in/a", "x");

            for (ReceivedPacket arrived : List.of(arrivedThere, arrivedHere)) {
                System.out.println("properties " + arrived.propertyIds() + ", user " + arrived.userProperties());
                assertThat(arrived.number(PAYLOAD_FORMAT)).isEqualTo(1);
                assertThat(arrived.number(EXPIRY)).isBetween(HOUR - 60, HOUR);
                assertThat(arrived.property(CONTENT_TYPE)).isEqualTo("text/plain");
                assertThat(arrived.property(RESPONSE_TOPIC)).isEqualTo("answers/7");
                assertThat(arrived.property(CORRELATION_DATA)).isEqualTo(new byte[] {1, 2});
                assertThat(arrived.userProperties()).containsSubsequence("a=1", "a=2");
            }
            assertThat(hivemq.process().isAlive()).isTrue();
        }
    }

    private static PublishBytes message(String topic) {
        PublishBytes message = PublishBytes.to(topic).payload("x").qos(1);
        message.properties()
                .payloadFormat(1)
                .messageExpiry(HOUR)
                .contentType("text/plain")
                .responseTopic("answers/7")
                .correlationData((byte) 1, (byte) 2)
                .user("a", "1")
                .user("a", "2");
        return message;
    }
}
