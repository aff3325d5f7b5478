// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Section 4.7 of both standards, and what belongs to it. */
class TopicFilterTest {

    private static final String[] TOPICS = {
        "a", "/a", "a/", "/", "a/b", "a/b/c", "A/b", "a b", "a//c", "$SYSTEM/a", "$a", "a/$b", "é", "e\u0301", "\uFEFFa"
    };

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension();

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "a; a",
                "/a; /a",
                "a/; a/",
                "/; /",
                "a/#; a a/ a/b a/b/c a//c a/$b",
                "a/+; a/ a/b a/$b",
                "+; a a_b é e\u0301 \uFEFFa",
                "+/+; /a a/ / a/b A/b a/$b",
                "/+; /a /",
                "#; a /a a/ / a/b a/b/c A/b a_b a//c a/$b é e\u0301 \uFEFFa",
                "a/+/c; a/b/c a//c",
                "+/b/#; a/b a/b/c A/b",
                "$SYSTEM/#; $SYSTEM/a",
                "$SYSTEM/+; $SYSTEM/a",
                "$a; $a",
                "+/a; /a",
                "a_b; a_b",
                "é; é",
                "e\u0301; e\u0301",
                "\uFEFFa; \uFEFFa"
            })
    void aFilterMatchesExactlyTheseTopics(String filter, String expected) {
        // [MQTT-3.3.2-3] [MQTT311-3.3.2-3] [MQTT-4.7.2-1] [MQTT311-4.7.2-1] [MQTT-4.7.3-4] [MQTT311-4.7.3-4]
        // [MQTT-1.5.4-3] [MQTT311-1.5.3-3] [MQTT-4.7.1-1] [MQTT-4.7.1-2] [MQTT311-4.7.1-2] [MQTT311-4.7.1-3]
        for (ProtocolVersion version : ProtocolVersion.values()) {
            RawClient client = broker.client(version, "c");
            client.subscribe(filter.replace('_', ' '), 0);
            RawClient publisher = broker.client(version, "p");
            for (String topic : TOPICS) {
                publisher.send(PublishBytes.to(topic).payload(topic));
            }
            publisher.ping();
            List<String> received = new ArrayList<>();
            client.expectNothingBut(packet -> received.add(packet.topic()));
            List<String> wanted = new ArrayList<>();
            for (String topic : expected.split(" ")) {
                wanted.add(topic.replace('_', ' '));
            }
            assertThat(received).containsExactlyElementsOf(wanted);
        }
    }

    private static final String[] ILL_FORMED = {
        "a#",
        "#/a",
        "a/#/b",
        "a+",
        "+a",
        "a/+b",
        "a/b+/c",
        "##",
        "++",
        "+#",
        "$share",
        "$share/x",
        "$share//a",
        "$share/x/"
    };

    @Test
    void wildcardsFillALevelAndTheMultiLevelOneComesLast() {
        // [MQTT-4.7.1-1] [MQTT-4.7.1-2]
        RawClient client = broker.client(ProtocolVersion.MQTT_5, "c");
        for (String filter : ILL_FORMED) {
            assertThat(client.subscribe(filter, 0).reasonCodes()).as(filter).containsExactly(0x8F);
            assertThat(client.unsubscribe(filter).reasonCodes()).as(filter).containsExactly(0x8F);
        }
    }

    @ParameterizedTest
    @EnumSource(names = "MQTT_5", mode = EnumSource.Mode.EXCLUDE)
    void beforeMqtt5AnIllFormedFilterEndsTheConnection(ProtocolVersion version) {
        // [MQTT311-4.7.1-2] [MQTT311-4.7.1-3] [MQTT311-4.8.0-1]
        RawClient publisher = broker.client(version, "p");
        for (String filter : ILL_FORMED) {
            RawClient client = broker.open(version);
            client.connect(ConnectBytes.of("c").persistent(100));
            client.subscribe("kept", 0);
            SubscribeBytes both = SubscribeBytes.of(7).filter("kept/not", 0).filter(filter, 0);
            client.send(both).expectClosed();
            client = broker.open(version);
            client.connect(ConnectBytes.of("c").persistent(100));
            PacketBytes unsubscribe = PacketBytes.packet(0xA2).u16(8).noPropertiesIn(version);
            client.send(unsubscribe.string("kept").string(filter)).expectClosed();

            client = broker.open(version);
            client.connect(ConnectBytes.of("c").persistent(100));
            publisher.publish("kept/not", "x", 1); // neither packet changed anything
            publisher.publish("kept", "x", 1);
            client.expectPublish("kept", "x");
            client.expectNothing();
            client.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anEmptyFilterEndsTheConnection(ProtocolVersion version) {
        // [MQTT-4.7.3-1] [MQTT311-4.7.3-1]
        ReasonCode reason = version.isV5() ? ReasonCode.MALFORMED_PACKET : ReasonCode.TOPIC_FILTER_INVALID;
        endsWith(version, SubscribeBytes.of(1).filter("", 0).toBytes(version), reason);
        endsWith(
                version,
                PacketBytes.packet(0xA2)
                        .u16(1)
                        .noPropertiesIn(version)
                        .string("a")
                        .string("")
                        .toBytes(),
                reason);
    }

    @ParameterizedTest
    @EnumSource
    void aTopicNameHasNoWildcard(ProtocolVersion version) {
        // [MQTT-3.3.2-2] [MQTT311-3.3.2-2] [MQTT-4.7.0-1] [MQTT311-4.7.1-1]
        for (String topic : new String[] {"#", "+", "a/+", "a/#", "a+", "a#b"}) {
            endsWith(version, PublishBytes.to(topic).toBytes(version), ReasonCode.TOPIC_NAME_INVALID);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTopicNameHasAtLeastOneCharacterAndNoNull(ProtocolVersion version) {
        // [MQTT-4.7.3-1] [MQTT311-4.7.3-1]
        endsWith(
                version,
                PublishBytes.to("").toBytes(version),
                version.isV5() ? ReasonCode.PROTOCOL_ERROR : ReasonCode.TOPIC_NAME_INVALID);
        // [MQTT-4.7.3-2] [MQTT311-4.7.3-2]
        endsWith(version, PublishBytes.to("a\0b").toBytes(version), ReasonCode.MALFORMED_PACKET);
        PacketBytes subscribe = PacketBytes.packet(0x82).u16(1).noPropertiesIn(version);
        endsWith(version, subscribe.string("a\0b").u8(0).toBytes(), ReasonCode.MALFORMED_PACKET);
    }

    private void endsWith(ProtocolVersion version, byte[] packet, ReasonCode reason) {
        broker.client(version, "c").send(packet).expectDisconnect(reason);
    }
}
