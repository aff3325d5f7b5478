// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.access;

import static io.netty.handler.codec.mqtt.MqttMessageType.CONNACK;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.BrokerBuilder;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Client identifiers that are reserved for their user, by {@code access.client-id}. */
class ReservedClientIdTest {

    @RegisterExtension
    final BrokerExtension broker = new BrokerExtension(ReservedClientIdTest::access, ReservedClientIdTest::acceptAll);

    private static BrokerBuilder acceptAll(BrokerBuilder builder) {
        return builder.authenticator(
                request -> Authentication.accepted(request.userName()).now());
    }

    private static BrokerConfigBuilder access(BrokerConfigBuilder config) {
        return config.access(AccessConfig.builder()
                .allowAnonymous(AnonymousAccess.TRUE)
                .clientId("${user}-*")
                .build());
    }

    private ReceivedPacket connect(ProtocolVersion version, ConnectBytes packet) {
        return broker.open(version).send(packet).expect(CONNACK);
    }

    private static ConnectBytes user(String user, String clientId) {
        return ConnectBytes.of(clientId).userName(user).password("any");
    }

    @Test
    void aUserHasItsOwnIdentifiers() {
        assertThat(connect(MQTT_5, user("alice", "alice-phone")).reasonCode()).isZero();
        assertThat(connect(MQTT_3_1_1, user("alice", "alice-")).reasonCode()).isZero();
    }

    @Test
    void anIdentifierOfAnotherUserIsRefused() {
        for (String clientId : new String[] {"bob-phone", "alice", "phone", "Alice-phone"}) {
            assertThat(connect(MQTT_5, user("alice", clientId)).reason())
                    .as(clientId)
                    .isEqualTo(ReasonCode.CLIENT_IDENTIFIER_NOT_VALID);
            assertThat(connect(MQTT_3_1_1, user("alice", clientId)).reasonCode())
                    .as(clientId)
                    .isEqualTo(2);
        }
    }

    @Test
    void aClientWithoutUserCannotTakeAUsersIdentifier() {
        assertThat(connect(MQTT_5, ConnectBytes.of("alice-phone")).reason())
                .isEqualTo(ReasonCode.CLIENT_IDENTIFIER_NOT_VALID);
        assertThat(connect(MQTT_5, ConnectBytes.of("sensor")).reasonCode()).isZero();
    }

    @Test
    void anAssignedIdentifierIsEverybodysWhoWasGivenIt() {
        ReceivedPacket first = connect(MQTT_5, user("alice", ""));
        assertThat(first.reasonCode()).isZero();
        String assigned = String.valueOf(first.property(0x12)); // Assigned Client Identifier

        assertThat(connect(MQTT_5, user("alice", assigned)).reasonCode()).isZero();
        assertThat(connect(MQTT_3_1_1, user("bob", "")).reasonCode()).isZero();
    }

    @Nested
    class NamesThatLookLikeAssignedIdentifiers {

        @RegisterExtension
        final BrokerExtension other = new BrokerExtension(
                config -> config.access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .clientId("smqtt-${user}")
                        .build()),
                ReservedClientIdTest::acceptAll);

        private ReceivedPacket connectThere(ConnectBytes packet) {
            return other.open(MQTT_5).send(packet).expect(CONNACK);
        }

        @Test
        void areReserved() {
            for (String name : new String[] {"a-user-of-20-letters", "and-this-one-is-of-28-letter"}) {
                String clientId = "smqtt-" + name;
                assertThat(connectThere(user("mallory", clientId)).reason())
                        .isEqualTo(ReasonCode.CLIENT_IDENTIFIER_NOT_VALID);
                assertThat(connectThere(ConnectBytes.of(clientId)).reason())
                        .isEqualTo(ReasonCode.CLIENT_IDENTIFIER_NOT_VALID);
                assertThat(connectThere(user(name, clientId)).reasonCode()).isZero();
            }
        }

        @Test
        void keepNoClientFromComingBackWithItsAssignedIdentifier() {
            String ofAlice = String.valueOf(connectThere(user("alice", "")).property(0x12));
            assertThat(connectThere(user("alice", ofAlice)).reasonCode()).isZero();

            String assigned = String.valueOf(connectThere(ConnectBytes.of("")).property(0x12));
            assertThat(connectThere(ConnectBytes.of(assigned)).reasonCode()).isZero();
        }
    }
}
