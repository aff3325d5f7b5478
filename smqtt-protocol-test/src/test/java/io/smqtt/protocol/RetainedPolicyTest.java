// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.RetainedPolicyConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rules for retained messages below "small" and "short"; twenty retained messages in a second to a client that subscribes. */
class RetainedPolicyTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int MESSAGE_EXPIRY = 0x02;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config.retainedPolicies(policies())
                    .limits(LimitsConfig.defaults().toBuilder()
                            .maxRetainedRate(20)
                            .build()),
            builder -> builder);

    private static Map<String, RetainedPolicyConfig> policies() {
        Map<String, RetainedPolicyConfig> all = new LinkedHashMap<>();
        all.put("free", RetainedPolicyConfig.of("small/free"));
        all.put(
                "small",
                RetainedPolicyConfig.of("small/#").toBuilder()
                        .maxPayloadBytes(4)
                        .build());
        all.put(
                "short",
                RetainedPolicyConfig.of("short/+").toBuilder()
                        .expiry(Duration.ofSeconds(10))
                        .build());
        return all;
    }

    private static int retain(RawClient client, String topic, String payload) {
        client.send(PublishBytes.to(topic).payload(payload).retained().qos(1, 1));
        return client.expect(MqttMessageType.PUBACK).reasonCode();
    }

    @Test
    void aPayloadAboveTheLimitIsNotRetained() {
        RawClient publisher = broker.client(V5, "p");
        assertThat(retain(publisher, "small/a", "1234")).isLessThan(0x80);
        assertThat(retain(publisher, "small/a", "12345")).isEqualTo(0x97);
        assertThat(retain(publisher, "small/free", "12345"))
                .as("the first rule decides")
                .isLessThan(0x80);
        assertThat(retain(publisher, "large", "12345")).isLessThan(0x80);
        RawClient client = broker.client(V5, "c");
        client.subscribe("small/a", 0);
        client.expectPublish("small/a", "1234");
        assertThat(retain(publisher, "small/a", "")).isLessThan(0x80);
    }

    @Test
    void aMessageExpiresAtTheLatestAfterTheTimeOfItsRule() {
        RawClient publisher = broker.client(V5, "p");
        retain(publisher, "short/a", "x");
        PublishBytes own = PublishBytes.to("short/b").payload("x").retained().qos(1, 2);
        own.properties().messageExpiry(3);
        publisher.send(own).expect(MqttMessageType.PUBACK);
        broker.ticker().advance(Duration.ofSeconds(4));
        RawClient client = broker.client(V5, "c");
        client.subscribe("short/#", 0);
        assertThat(client.expectPublish("short/a", "x").number(MESSAGE_EXPIRY)).isEqualTo(6);
        client.expectNothing();
        broker.ticker().advance(Duration.ofSeconds(7));
        RawClient late = broker.client(V5, "late");
        late.subscribe("short/#", 0);
        late.expectNothing();
    }

    @Test
    void manyRetainedMessagesComeInTheirPace() {
        RawClient publisher = broker.client(V5, "p");
        for (int i = 0; i < 9; i++) {
            retain(publisher, "many/" + i, "x");
        }
        RawClient client = broker.client(V5, "c");
        client.subscribe("many/#", 0);
        List<String> received = new ArrayList<>();
        client.expectNothingBut(packet -> received.add(packet.topic()));
        assertThat(received).containsExactly("many/0", "many/1", "many/2");
        broker.ticker().advance(Duration.ofMillis(100));
        client.expectPublish("many/3", "x");
        client.expectPublish("many/4", "x");
        client.expectNothing();
        broker.ticker().advance(Duration.ofSeconds(1));
        client.expectPublish("many/5", "x");
    }
}
