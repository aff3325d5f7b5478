// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.access;

import static io.netty.handler.codec.mqtt.MqttMessageType.AUTH;
import static io.netty.handler.codec.mqtt.MqttMessageType.CONNACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.DISCONNECT;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.PasswordFile;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** SCRAM-SHA-256 by AUTH packets, at CONNECT and again later (MQTT 5.0, section 4.12). */
class EnhancedAuthenticationTest {

    private static final String SCRAM = "SCRAM-SHA-256";
    private static final int METHOD = 0x15;
    private static final int DATA = 0x16;
    private static final int CONTINUE = 0x18;
    private static final int AGAIN = 0x19;

    @RegisterExtension
    static final BrokerExtension BROKER = new BrokerExtension(EnhancedAuthenticationTest::access);

    private static BrokerConfigBuilder access(BrokerConfigBuilder config) {
        try {
            Path file = Files.createTempDirectory("smqtt-test").resolve("users");
            PasswordFile users = PasswordFile.empty();
            for (String name : new String[] {"alice", "bob"}) {
                byte[] password = (name + "'s").getBytes(StandardCharsets.UTF_8);
                users.set(name, password, PasswordFile.Kind.SCRAM_SHA_256, 4_096);
            }
            users.write(file);
            return config.access(AccessConfig.builder()
                    .allowAnonymous(AnonymousAccess.TRUE)
                    .passwordFile(file)
                    .build());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ConnectBytes connect(String clientId, String method, byte[] data) {
        ConnectBytes connect = ConnectBytes.of(clientId);
        connect.properties().authenticationMethod(method).authenticationData(data);
        return connect;
    }

    private static PacketBytes auth(int reason, String method, byte[] data) {
        return PacketBytes.packet(0xF0)
                .u8(reason)
                .properties(PropertyBytes.none()
                        .authenticationMethod(method)
                        .authenticationData(data)
                        .fields());
    }

    private static byte[] data(ReceivedPacket packet) {
        return (byte[]) packet.property(DATA);
    }

    private static RawClient challenged(String clientId, ScramClient scram) {
        RawClient client = BROKER.open(MQTT_5);
        client.send(connect(clientId, SCRAM, scram.first()));
        return client;
    }

    private static RawClient alice(String clientId) {
        ScramClient scram = new ScramClient("alice", "alice's");
        RawClient client = challenged(clientId, scram);
        ReceivedPacket challenge = client.expect(AUTH);
        client.send(auth(CONTINUE, SCRAM, scram.answer(data(challenge))));
        assertThat(client.expect(CONNACK).reasonCode()).isZero();
        return client;
    }

    @Test
    void clientAndBrokerProveThePasswordToEachOther() {
        // [MQTT-4.12.0-2] [MQTT-4.12.0-5] [MQTT-3.15.2-1]
        ScramClient scram = new ScramClient("alice", "alice's");
        RawClient client = challenged("proving", scram);
        ReceivedPacket challenge = client.expect(AUTH);
        assertThat(challenge.reasonCode()).isEqualTo(CONTINUE);
        assertThat(challenge.property(METHOD)).isEqualTo(SCRAM);
        client.send(auth(CONTINUE, SCRAM, scram.answer(data(challenge))));

        ReceivedPacket connAck = client.expect(CONNACK);
        assertThat(connAck.reasonCode()).isZero();
        assertThat(connAck.property(METHOD)).isEqualTo(SCRAM);
        assertThat(data(connAck)).isEqualTo(scram.expectedEnd());
        client.expectNothing();
    }

    @Test
    void aWrongPasswordIsRefused() { // [MQTT-4.12.0-4]
        ScramClient scram = new ScramClient("alice", "bob's");
        RawClient client = challenged("wrong", scram);
        client.send(auth(CONTINUE, SCRAM, scram.answer(data(client.expect(AUTH)))));

        assertThat(client.expect(CONNACK).reason()).isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
        client.expectClosed();
    }

    @Test
    void anUnknownMethodIsRefused() { // [MQTT-4.12.0-1]
        RawClient client = BROKER.open(MQTT_5);
        client.send(connect("unknown", "GS2-KRB5", new byte[] {1}));

        assertThat(client.expect(CONNACK).reason()).isEqualTo(ReasonCode.BAD_AUTHENTICATION_METHOD);
        client.expectClosed();
    }

    @Test
    void theClientMustAnswerWithTheReasonCodeOfAnAnswer() { // [MQTT-4.12.0-3]
        ScramClient scram = new ScramClient("alice", "alice's");
        RawClient client = challenged("again-early", scram);
        byte[] answer = scram.answer(data(client.expect(AUTH)));
        client.send(auth(AGAIN, SCRAM, answer));

        assertThat(client.expect(CONNACK).reason()).isEqualTo(ReasonCode.PROTOCOL_ERROR);
        client.expectClosed();
    }

    @Test
    void theMethodMayNotChangeWithinTheExchange() { // [MQTT-4.12.0-5]
        ScramClient scram = new ScramClient("alice", "alice's");
        RawClient client = challenged("changing", scram);
        client.send(auth(CONTINUE, "SCRAM-SHA-1", scram.answer(data(client.expect(AUTH)))));

        assertThat(client.expect(CONNACK).reason()).isEqualTo(ReasonCode.PROTOCOL_ERROR);
        client.expectClosed();
    }

    @Test
    void nothingButAuthIsTakenBeforeTheConnAck() { // [MQTT-3.1.2-30]
        ScramClient scram = new ScramClient("alice", "alice's");
        RawClient watcher = BROKER.client(MQTT_5, "watcher");
        watcher.subscribe("early", 0);
        RawClient client = challenged("early", scram);
        byte[] answer = scram.answer(data(client.expect(AUTH)));
        client.send(PublishBytes.to("early").payload("x")).send(auth(CONTINUE, SCRAM, answer));

        assertThat(client.expect(CONNACK).reason()).isEqualTo(ReasonCode.PROTOCOL_ERROR);
        client.expectClosed();
        watcher.expectNothing();
    }

    @Test
    void aClientMayGiveUpWithADisconnect() { // [MQTT-3.1.2-30]
        ScramClient scram = new ScramClient("alice", "alice's");
        RawClient client = challenged("giving-up", scram);
        client.expect(AUTH);

        client.send((byte) 0xE0, (byte) 0).expectClosed();
    }

    @Test
    void whatComesRightBehindTheLastAnswerIsTakenAfterTheConnAck() {
        ScramClient scram = new ScramClient("alice", "alice's");
        RawClient client = challenged("pipelined", scram);
        byte[] answer = scram.answer(data(client.expect(AUTH)));
        client.send(auth(CONTINUE, SCRAM, answer)).send((byte) 0xC0, (byte) 0);

        assertThat(client.expect(CONNACK).reasonCode()).isZero();
        client.expect(io.netty.handler.codec.mqtt.MqttMessageType.PINGRESP);
    }

    @Test
    void withoutAMethodNothingIsSaidOfMethods() { // [MQTT-4.12.0-6]
        RawClient client = BROKER.open(MQTT_5);

        assertThat(client.connect("plain").propertyIds()).doesNotContain(METHOD, DATA);
        client.expectNothing();
    }

    @Test
    void withoutAMethodAnAuthIsAProtocolError() { // [MQTT-4.12.0-6] [MQTT-4.12.0-7]
        RawClient client = BROKER.client(MQTT_5, "plain-auth");
        client.send(auth(AGAIN, SCRAM, new ScramClient("alice", "alice's").first()));

        client.expectDisconnect(ReasonCode.PROTOCOL_ERROR);
    }

    @Test
    void aConnectedClientAuthenticatesAgain() { // [MQTT-4.12.0-5] [MQTT-3.15.2-1]
        RawClient client = alice("again");
        ScramClient scram = new ScramClient("alice", "alice's");
        client.send(auth(AGAIN, SCRAM, scram.first()));
        ReceivedPacket challenge = client.expect(AUTH);
        assertThat(challenge.reasonCode()).isEqualTo(CONTINUE);
        client.ping(); // the connection goes on meanwhile
        client.send(auth(CONTINUE, SCRAM, scram.answer(data(challenge))));

        ReceivedPacket end = client.expect(AUTH);
        assertThat(end.reasonCode()).isZero();
        assertThat(end.property(METHOD)).isEqualTo(SCRAM);
        assertThat(data(end)).isEqualTo(scram.expectedEnd());
        client.expectNothing();
    }

    @Test
    void authenticatingAgainKeepsToTheMethodOfTheConnect() { // [MQTT-4.12.1-1]
        RawClient client = alice("other-method");
        client.send(auth(AGAIN, "SCRAM-SHA-1", new ScramClient("alice", "alice's").first()));

        client.expectDisconnect(ReasonCode.PROTOCOL_ERROR);
    }

    @Test
    void failingToAuthenticateAgainEndsTheConnection() { // [MQTT-4.12.1-2]
        RawClient client = alice("again-wrong");
        ScramClient scram = new ScramClient("alice", "guess");
        client.send(auth(AGAIN, SCRAM, scram.first()));
        client.send(auth(CONTINUE, SCRAM, scram.answer(data(client.expect(AUTH)))));

        assertThat(client.expect(DISCONNECT).reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        client.expectClosed();
    }

    @Test
    void anotherUserCannotAuthenticateOnAnOldConnection() { // [MQTT-4.12.1-2]
        RawClient client = alice("other-user");
        ScramClient scram = new ScramClient("bob", "bob's");
        client.send(auth(AGAIN, SCRAM, scram.first()));
        ReceivedPacket answer = client.receive();
        if (answer != null && answer.type() == AUTH) {
            client.send(auth(CONTINUE, SCRAM, scram.answer(data(answer))));
            answer = client.receive();
        }

        assertThat(answer.type()).isEqualTo(DISCONNECT);
        assertThat(answer.reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        client.expectClosed();
    }

    @Test
    void anAnswerThatNobodyAskedForIsAProtocolError() {
        RawClient client = alice("unasked");
        client.send(auth(CONTINUE, SCRAM, new byte[] {1}));

        client.expectDisconnect(ReasonCode.PROTOCOL_ERROR);
    }
}
