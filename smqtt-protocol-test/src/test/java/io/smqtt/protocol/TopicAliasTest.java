// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.MqttConfig;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Topic aliases, both ways (MQTT 5.0, section 3.3.2.3.4). */
class TopicAliasTest {

    private static final int ALIAS = 0x23;
    private static final int MAXIMUM = 4;

    @RegisterExtension
    static final BrokerExtension BROKER = new BrokerExtension(config ->
            config.mqtt(MqttConfig.builder().topicAliasMaximum(MAXIMUM).build()));

    @RegisterExtension
    static final BrokerExtension WITHOUT = new BrokerExtension(
            config -> config.mqtt(MqttConfig.builder().topicAliasMaximum(0).build()));

    private static PublishBytes aliased(String topic, int alias, String payload) {
        PublishBytes publish = PublishBytes.to(topic).payload(payload);
        publish.properties().topicAlias(alias);
        return publish;
    }

    private static RawClient subscriber(String id, int aliasMaximum, String filter) {
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of(id);
        if (aliasMaximum >= 0) {
            connect.properties().topicAliasMaximum(aliasMaximum);
        }
        client.connect(connect);
        client.subscribe(filter, 0);
        return client;
    }

    @Test
    void everyAliasUpToTheMaximumIsAcceptedReusedAndReplaced() {
        // [MQTT-3.3.2-12]
        RawClient reader = subscriber("reader", -1, "in/#");
        RawClient client = BROKER.open(MQTT_5);
        assertThat(client.connect("aliases").number(0x22)).isEqualTo(MAXIMUM);
        for (int alias = MAXIMUM; alias >= 1; alias--) {
            client.send(aliased("in/" + alias, alias, "set"));
        }
        for (int alias = MAXIMUM; alias >= 1; alias--) {
            client.send(aliased("", alias, "used"));
        }
        client.send(aliased("in/other", 2, "replaced")).send(aliased("", 2, "used again"));

        for (String payload : new String[] {"set", "used"}) {
            for (int alias = MAXIMUM; alias >= 1; alias--) {
                reader.expectPublish("in/" + alias, payload);
            }
        }
        reader.expectPublish("in/other", "replaced");
        ReceivedPacket last = reader.expectPublish("in/other", "used again");
        assertThat(last.propertyIds()).doesNotContain(ALIAS); // the publisher's alias is not forwarded
    }

    @Test
    void aliasZeroIsRefused() { // [MQTT-3.3.2-8]
        RawClient client = BROKER.client(MQTT_5, "zero");

        client.send(aliased("a/b", 0, "x")).expectDisconnect(ReasonCode.TOPIC_ALIAS_INVALID);
    }

    @Test
    void anAliasAboveTheMaximumIsRefused() { // [MQTT-3.3.2-9] [MQTT-3.2.2-17]
        RawClient client = BROKER.client(MQTT_5, "above");

        client.send(aliased("a/b", MAXIMUM + 1, "x")).expectDisconnect(ReasonCode.TOPIC_ALIAS_INVALID);
    }

    @Test
    void withoutAMaximumEveryAliasIsRefused() { // [MQTT-3.2.2-18]
        RawClient client = WITHOUT.open(MQTT_5);
        assertThat(client.connect("none").number(0x22)).isLessThanOrEqualTo(0);

        client.send(aliased("a/b", 1, "x")).expectDisconnect(ReasonCode.TOPIC_ALIAS_INVALID);
    }

    @Test
    void anUnknownAliasIsRefused() {
        RawClient client = BROKER.client(MQTT_5, "unknown");

        client.send(aliased("", 1, "x")).expectDisconnect(ReasonCode.TOPIC_ALIAS_INVALID);
    }

    @Test
    void neitherTopicNorAliasIsAProtocolError() {
        RawClient client = BROKER.client(MQTT_5, "neither");

        client.send(PublishBytes.to("").payload("x")).expectDisconnect(ReasonCode.PROTOCOL_ERROR);
    }

    @Test
    void aliasesEndWithTheConnection() { // [MQTT-3.3.2-7]
        RawClient client = BROKER.open(MQTT_5);
        client.connect(ConnectBytes.of("again").persistent(100));
        client.send(aliased("in/again", 1, "x")).send(aliased("", 1, "y"));
        client.ping();
        client.abort();

        RawClient returned = BROKER.open(MQTT_5);
        assertThat(returned.connect(ConnectBytes.of("again").persistent(100)).sessionPresent())
                .isTrue();
        returned.send(aliased("", 1, "z")).expectDisconnect(ReasonCode.TOPIC_ALIAS_INVALID);
    }

    @Test
    void theBrokersAliasesStayWithinTheClientsMaximum() { // [MQTT-3.1.2-26] [MQTT-3.3.2-11]
        RawClient reader = subscriber("few", 2, "out/few/#");
        RawClient publisher = BROKER.client(MQTT_5, "publisher");
        for (int i = 0; i < 15; i++) {
            publisher.publish("out/few/" + i % 5, "x", 0);
        }

        Map<Long, String> known = new HashMap<>();
        int used = 0;
        for (int i = 0; i < 15; i++) {
            ReceivedPacket packet = reader.expect(PUBLISH);
            long alias = packet.number(ALIAS);
            String topic = packet.topic();
            if (alias > 0) {
                assertThat(alias).isBetween(1L, 2L);
                used++;
                if (topic.isEmpty()) {
                    topic = known.get(alias);
                } else {
                    known.put(alias, topic);
                }
            }
            assertThat(topic).isEqualTo("out/few/" + i % 5);
        }
        assertThat(used).isEqualTo(6);
    }

    @Test
    void aClientThatAnnouncedNoneOrZeroGetsNoAlias() { // [MQTT-3.1.2-27]
        RawClient none = subscriber("announced-none", -1, "out/plain");
        RawClient zero = subscriber("announced-zero", 0, "out/plain");
        RawClient publisher = BROKER.client(MQTT_5, "plain-publisher");
        for (int i = 0; i < 3; i++) {
            publisher.publish("out/plain", "x", 0);
            assertThat(none.expectPublish("out/plain", "x").propertyIds()).isEmpty();
            assertThat(zero.expectPublish("out/plain", "x").propertyIds()).isEmpty();
        }
    }
}
