// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.Broker;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.AccessDecision;
import io.smqtt.test.BrokerClock;
import io.smqtt.test.MqttBroker;
import io.smqtt.test.OfBroker;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.wire.MqttProxy;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** What {@link MqttBroker} gives to tests. */
class MqttBrokerTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    @Nested
    @MqttBroker
    class OneForEachTest {

        private static final Set<TestBroker> SEEN = new HashSet<>();

        @Test
        void parametersAreOfTheSameBroker(
                TestBroker broker,
                Broker core,
                BrokerClock clock,
                URI uri,
                InetSocketAddress address,
                @OfBroker int port,
                MqttProxy proxy) {
            assertThat(broker.broker()).isSameAs(core);
            assertThat(broker.clock()).isSameAs(clock);
            assertThat(uri).isEqualTo(URI.create("mqtt://127.0.0.1:" + port));
            assertThat(broker.uri("tcp").getScheme()).isEqualTo("tcp");
            assertThat(address).isEqualTo(broker.address());
            try (RawClient client = RawClient.to(proxy.address(), V5)) {
                client.connect("through");
                assertThat(broker).hasConnected("through");
            }
            assertThat(SEEN.add(broker)).isTrue();
        }

        @Test
        void anotherTestHasAnotherBroker(TestBroker broker) {
            assertThat(broker).hasNoSession("through");
            assertThat(SEEN.add(broker)).isTrue();
        }
    }

    @Nested
    @MqttBroker(lifetime = MqttBroker.Lifetime.CLASS)
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    class OneForAllTests {

        private final TestBroker mine;

        OneForAllTests(TestBroker broker) {
            mine = broker;
        }

        @BeforeAll
        static void isThere(TestBroker broker) {
            assertThat(broker.port()).isPositive();
        }

        @Test
        @Order(1)
        void leavesASession() {
            RawClient client = mine.open(V5);
            client.connect(ConnectBytes.of("left").persistent(1_000));
            client.publish("a", "b", 1);
            assertThat(mine).received("a").times(1);
        }

        @Test
        @Order(2)
        void findsTheSessionAndNoMessages(TestBroker broker) {
            assertThat(broker).hasSession("left").hasDisconnected("left").receivedNothing("#");
        }
    }

    @Nested
    @MqttBroker("a")
    @MqttBroker(value = "b", lifetime = MqttBroker.Lifetime.CLASS, properties = "mqtt.max-qos = 1")
    class Several {

        @Test
        void eachHasItsName(@OfBroker("a") TestBroker a, @OfBroker("b") TestBroker b, @OfBroker("b") int port) {
            assertThat(a.port()).isNotEqualTo(b.port());
            assertThat(b.port()).isEqualTo(port);
            assertThat(maximumQosOf(a)).isEqualTo(-1);
            assertThat(maximumQosOf(b)).isEqualTo(1);
        }

        private long maximumQosOf(TestBroker broker) {
            return broker.open(V5).connect("c").number(0x24);
        }

        @Nested
        @MqttBroker("c")
        class Inside {

            private TestBroker before;

            @BeforeEach
            void take(@OfBroker("a") TestBroker a) {
                before = a;
            }

            @Test
            void hasThoseOfTheClassAroundToo(
                    @OfBroker("a") TestBroker a, @OfBroker("b") TestBroker b, @OfBroker("c") TestBroker c) {
                assertThat(Set.of(a.port(), b.port(), c.port())).hasSize(3);
                assertThat(before).isSameAs(a);
            }
        }
    }

    @Nested
    @MqttBroker(configure = "refuseStrangers", standingClock = true)
    class Configured {

        static void refuseStrangers(TestBroker.Builder broker) {
            broker.parts(parts -> parts.authorizer(request -> AccessDecision.DENY.now()));
        }

        @Test
        void byAMethod(TestBroker broker, BrokerClock clock) {
            RawClient client = broker.client(V5, "c");
            client.send(PublishBytes.to("a").qos(1, 1));
            assertThat(client.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x87);
            assertThat(broker).receivedNothing("#");
            assertThat(clock.nanoTime()).isEqualTo(clock.nanoTime()).isZero();
        }
    }
}
