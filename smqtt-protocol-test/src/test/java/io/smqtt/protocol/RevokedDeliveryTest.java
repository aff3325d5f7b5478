// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client comes back to messages in flight that it may not receive any more. */
class RevokedDeliveryTest {

    private static final int PUBACK = 0x40;
    private static final int PUBREC = 0x50;
    private static final int PUBCOMP = 0x70;

    private final AtomicBoolean forbidden = new AtomicBoolean();
    private final Map<DropReason, Integer> abandoned = new ConcurrentHashMap<>();

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            builder -> builder.authorizer(
                            request -> decide(request.action(), request.topic()).now())
                    .observer(new BrokerObserver() {
                        @Override
                        public void messageAbandoned(DropReason reason, int count) {
                            abandoned.merge(reason, count, Integer::sum);
                        }
                    }));

    private AccessDecision decide(AccessAction action, String topic) {
        return forbidden.get() && action == AccessAction.RECEIVE && topic.equals("a")
                ? AccessDecision.DENY
                : AccessDecision.ALLOW;
    }

    private RawClient resume(ProtocolVersion version) {
        RawClient client = broker.open(version);
        client.connect(ConnectBytes.of("c").persistent(1_000));
        return client;
    }

    /** Sends a message, and ends the connection after the client has received it. */
    private int sent(ProtocolVersion version, int qos) {
        RawClient client = resume(version);
        client.subscribe("+", qos);
        broker.client(version, "p").publish("a", "x", qos);
        int id = client.expectPublish("a", "x").packetId();
        client.abort();
        broker.awaitOffline("c");
        return id;
    }

    private void awaitNothingInFlight() {
        await().until(() -> broker.broker()
                        .clients()
                        .filter(info -> info.identity().clientId().equals("c"))
                        .blockFirst()
                        .inFlight()
                == 0);
    }

    @ParameterizedTest
    @EnumSource
    void atQos2TheClientGetsThePubRelAndNotTheMessage(ProtocolVersion version) {
        // [MQTT-4.3.3-6] [MQTT-4.4.0-1] [MQTT311-4.3.3-1] [MQTT311-4.4.0-1]
        int id = sent(version, 2);
        forbidden.set(true);
        RawClient second = resume(version);
        assertThat(second.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
        second.expectNothing();
        assertThat(abandoned).isEqualTo(Map.of(DropReason.NOT_AUTHORIZED, 1));
        second.abort();
        forbidden.set(false);
        RawClient third = resume(version); // the PUBREL again, and not the PUBLISH behind it
        assertThat(third.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
        third.acknowledge(PUBCOMP, id).ping();
        third.expectNothing();
        awaitNothingInFlight();
        broker.client(version, "p").publish("a", "y", 2);
        third.expectPublish("a", "y");
        assertThat(abandoned).isEqualTo(Map.of(DropReason.NOT_AUTHORIZED, 1));
    }

    @ParameterizedTest
    @EnumSource
    void atQos2AClientThatHasTheFirstHalfEndsTheExchange(ProtocolVersion version) {
        // [MQTT-4.3.3-4] [MQTT311-4.3.3-1]
        int id = sent(version, 2);
        forbidden.set(true);
        RawClient second = resume(version);
        second.acknowledge(PUBREC, id); // as some clients do, without having been asked
        assertThat(second.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
        assertThat(second.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
        second.acknowledge(PUBCOMP, id).ping();
        second.expectNothing();
        awaitNothingInFlight();
    }

    @ParameterizedTest
    @EnumSource
    void atQos2WhatTheClientHasConfirmedIsReleased(ProtocolVersion version) {
        // [MQTT-4.3.3-5] [MQTT-4.4.0-1] [MQTT311-4.3.3-1] [MQTT311-4.4.0-1]
        RawClient first = resume(version);
        first.subscribe("+", 2);
        broker.client(version, "p").publish("a", "x", 2);
        int id = first.expectPublish("a", "x").packetId();
        first.acknowledge(PUBREC, id).expect(MqttMessageType.PUBREL);
        first.abort();
        broker.awaitOffline("c");
        forbidden.set(true);
        RawClient second = resume(version);
        assertThat(second.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
        second.acknowledge(PUBCOMP, id).ping();
        awaitNothingInFlight();
        assertThat(abandoned).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void atQos1TheMessageEndsAtOnce(ProtocolVersion version) {
        int id = sent(version, 1);
        forbidden.set(true);
        RawClient second = resume(version);
        second.expectNothing();
        awaitNothingInFlight();
        assertThat(abandoned).isEqualTo(Map.of(DropReason.NOT_AUTHORIZED, 1));
        second.acknowledge(PUBACK, id).ping(); // too late, and no harm
        forbidden.set(false);
        second.abort();
        resume(version).expectNothing();
    }
}
