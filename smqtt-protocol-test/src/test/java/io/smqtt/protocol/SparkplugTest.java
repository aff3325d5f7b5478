// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.MqttConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The assertions of the Sparkplug Specification 3.0 on MQTT servers (section 10.1.3 and 10.1.4), by their identifiers. */
class SparkplugTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final String NODE_BIRTH = "spBv1.0/G/NBIRTH/E";
    private static final String DEVICE_BIRTH = "spBv1.0/G/DBIRTH/E/D";
    private static final String CERTIFICATES = "$sparkplug/certificates/";

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config.mqtt(
                    MqttConfig.defaults().toBuilder().sparkplugAware(true).build()),
            builder -> builder);

    // [tck-id-conformance-mqtt-aware-store] [tck-id-conformance-mqtt-aware-nbirth-mqtt-topic]
    // [tck-id-conformance-mqtt-aware-nbirth-mqtt-retain] [tck-id-conformance-mqtt-aware-dbirth-mqtt-topic]
    // [tck-id-conformance-mqtt-aware-dbirth-mqtt-retain]
    @ParameterizedTest
    @ValueSource(strings = {NODE_BIRTH, DEVICE_BIRTH})
    void aBirthIsRetainedAsACertificate(String topic) {
        RawClient host = broker.client(V5, "host");
        host.subscribe("spBv1.0/#", 1);
        host.subscribe(CERTIFICATES + "#", 1);
        RawClient node = broker.client(ProtocolVersion.MQTT_3_1_1, "node");

        node.publish(topic, "birth", 0);

        List<String> received = Stream.of(1, 2)
                .map(number -> host.expect(MqttMessageType.PUBLISH))
                .map(packet -> packet.topic() + ' ' + packet.text() + ' ' + packet.retain())
                .toList();
        assertThat(received).containsExactlyInAnyOrder(topic + " birth false", CERTIFICATES + topic + " birth false");
        host.expectNothing();
        RawClient late = broker.client(V5, "late");
        late.subscribe(CERTIFICATES + "spBv1.0/#", 1);
        ReceivedPacket certificate = late.expectPublish(CERTIFICATES + topic, "birth");
        assertThat(certificate.retain()).isTrue();
        late.subscribe("spBv1.0/#", 1);
        late.expectNothing();
    }

    // [tck-id-conformance-mqtt-aware-store]
    @Test
    void theLatestBirthCounts() {
        RawClient host = broker.client(V5, "host");
        host.subscribe(CERTIFICATES + "#", 0);
        RawClient node = broker.client(V5, "node");
        for (int i = 0; i < 5; i++) {
            node.publish(NODE_BIRTH, "birth " + i, 0);
            host.expectPublish(CERTIFICATES + NODE_BIRTH, "birth " + i);
        }
        node.publish(NODE_BIRTH, "", 0);
        host.expectNothing();
        RawClient late = broker.client(V5, "late");
        late.subscribe(CERTIFICATES + "#", 0);
        late.expectPublish(CERTIFICATES + NODE_BIRTH, "birth 4");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spBv1.0/G/NDEATH/E",
                "spBv1.0/G/NDATA/E",
                "spBv1.0/G/DDATA/E/D",
                "spBv1.0/G/NBIRTH/E/D",
                "spBv1.0/G/DBIRTH/E",
                "spBv1.0/STATE/host",
                "spAv1.0/G/NBIRTH/E"
            })
    void otherMessagesAreNotRetained(String topic) {
        RawClient host = broker.client(V5, "host");
        host.subscribe("$sparkplug/#", 0);
        broker.client(V5, "node").publish(topic, "x", 0);
        host.expectNothing();
    }

    // [tck-id-conformance-mqtt-aware-basic] [tck-id-conformance-mqtt-qos0] [tck-id-conformance-mqtt-qos1]
    @ParameterizedTest
    @CsvSource({"0", "1"})
    void dataIsDeliveredAtItsQos(int qos) {
        RawClient host = broker.client(V5, "host");
        host.subscribe("spBv1.0/#", 1);
        broker.client(V5, "node").publish("spBv1.0/G/NDATA/E", "data", qos);
        assertThat(host.expectPublish("spBv1.0/G/NDATA/E", "data").qos()).isEqualTo(qos);
    }

    // [tck-id-conformance-mqtt-will-messages] [tck-id-conformance-mqtt-aware-ndeath-timestamp]: the timestamp of the
    // payload is not replaced
    @ParameterizedTest
    @EnumSource(names = {"MQTT_3_1_1", "MQTT_5"})
    void aDeathCertificateIsTheWill(ProtocolVersion version) {
        RawClient host = broker.client(V5, "host");
        host.subscribe("spBv1.0/#", 1);
        RawClient node = broker.open(version);
        node.connect(ConnectBytes.of("node")
                .will(PublishBytes.to("spBv1.0/G/NDEATH/E").payload("death").qos(1)));
        node.abort();
        assertThat(host.expectPublish("spBv1.0/G/NDEATH/E", "death").qos()).isEqualTo(1);
    }

    // [tck-id-conformance-mqtt-retained]
    @Test
    void theStateOfAHostIsRetained() {
        RawClient host = broker.client(V5, "host");
        host.send(PublishBytes.to("spBv1.0/STATE/host").payload("online").retained());
        host.ping();
        RawClient node = broker.client(V5, "node");
        node.subscribe("spBv1.0/STATE/host", 1);
        assertThat(node.expectPublish("spBv1.0/STATE/host", "online").retain()).isTrue();
    }
}
