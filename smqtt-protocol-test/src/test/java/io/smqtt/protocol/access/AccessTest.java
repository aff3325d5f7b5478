// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.access;

import static io.netty.handler.codec.mqtt.MqttMessageType.CONNACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBCOMP;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREC;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.access.PasswordFile;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Access rules on every path by which a message can go in or out. Three users: writer may write {@code data/#}, reader may
 * read it, nobody may do neither.
 */
class AccessTest {

    private static final String RULES = """
            user writer
            topic write data/#
            user reader
            topic read data/#
            user nobody
            topic readwrite own/#
            pattern readwrite homes/%u/#
            """;

    private static final Path DIRECTORY = directory();
    private static final Path ACL = DIRECTORY.resolve("acl");

    @RegisterExtension
    final BrokerExtension broker = new BrokerExtension(AccessTest::access);

    private static Path directory() {
        try {
            return Files.createTempDirectory("smqtt-test");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static BrokerConfigBuilder access(BrokerConfigBuilder config) {
        write(RULES);
        PasswordFile users = PasswordFile.empty();
        for (String name : new String[] {"writer", "reader", "nobody", "+", "a/b"}) {
            users.set(name, "secret".getBytes(StandardCharsets.UTF_8), PasswordFile.Kind.PBKDF2_SHA_512, 10);
        }
        try {
            users.write(DIRECTORY.resolve("users"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return config.access(AccessConfig.builder()
                .allowAnonymous(AnonymousAccess.TRUE)
                .passwordFile(DIRECTORY.resolve("users"))
                .aclFile(ACL)
                .build());
    }

    private static void write(String rules) {
        try {
            Files.writeString(ACL, rules);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeEach
    void rulesAreThoseOfTheClass() {
        write(RULES);
    }

    private static ConnectBytes as(String user, String clientId) {
        return ConnectBytes.of(clientId).userName(user).password("secret");
    }

    private RawClient user(String user) {
        return user(user, user + "-client");
    }

    private RawClient user(String user, String clientId) {
        RawClient client = broker.open(MQTT_5);
        client.connect(as(user, clientId).persistent(1_000));
        return client;
    }

    private static int published(RawClient client, String topic, int qos) {
        client.send(PublishBytes.to(topic).qos(qos, 9).payload("x"));
        int code = client.expect(qos == 1 ? PUBACK : PUBREC).reasonCode();
        if (qos == 2 && code < 0x80) {
            client.acknowledge(0x62, 9).expect(PUBCOMP);
        }
        return code;
    }

    @ParameterizedTest
    @CsvSource({
        "writer, true",
        "reader, false",
        "nobody, false",
    })
    void publishing(String user, boolean allowed) {
        RawClient reader = user("reader", "watching");
        reader.subscribe("data/#", 0);
        RawClient client = user(user);
        for (int qos = 1; qos <= 2; qos++) {
            int code = published(client, "data/t", qos);
            assertThat(code).isEqualTo(allowed ? 0 : ReasonCode.NOT_AUTHORIZED.value());
        }
        client.send(PublishBytes.to("data/t").payload("x")); // QoS 0 is not answered
        client.ping();

        for (int i = 0; i < (allowed ? 3 : 0); i++) {
            reader.expectPublish("data/t", "x");
        }
        reader.expectNothing();
    }

    @Test
    void anOlderClientIsNotToldThatItsMessageWentNowhere() { // [MQTT311-3.3.5-2]
        RawClient reader = user("reader", "watching");
        reader.subscribe("data/#", 0);
        RawClient client = broker.open(MQTT_3_1_1);
        client.connect(as("nobody", "older"));
        client.send(PublishBytes.to("data/t").qos(1, 5)).expect(PUBACK);
        client.send(PublishBytes.to("data/t").qos(2, 6)).expect(PUBREC);
        client.acknowledge(0x62, 6).expect(PUBCOMP);

        reader.expectNothing();
    }

    @ParameterizedTest
    @DisplayName("rows 46, 47: the whole filter must be allowed, shared or not")
    @CsvSource({
        "reader, data/t, true",
        "reader, data/#, true",
        "reader, $share/g/data/+, true",
        "reader, '#', false",
        "reader, +/t, false",
        "reader, $share/g/#, false",
        "reader, $share/g/other, false",
        "writer, data/t, false",
        "writer, $share/g/data/t, false",
        "nobody, data/t, false",
        "nobody, own/#, true",
        "nobody, homes/nobody/x, true",
        "nobody, homes/other/x, false",
        "nobody, homes/+/x, false",
        "reader, $SYS/#, false",
        "writer, $SYS/broker/uptime, false",
        "reader, $CONTROL/#, false",
    })
    void subscribing(String user, String filter, boolean allowed) {
        int code = user(user).subscribe(filter, 1).reasonCodes().get(0);

        assertThat(code).isEqualTo(allowed ? 1 : ReasonCode.NOT_AUTHORIZED.value());
    }

    @ParameterizedTest
    @DisplayName("row 42: a will on a topic that the client may not write")
    @CsvSource({"writer, true", "reader, false", "nobody, false"})
    void wills(String user, boolean allowed) {
        RawClient client = broker.open(MQTT_5);
        client.send(as(user, "testator").will(PublishBytes.to("data/will").payload("x")));
        ReceivedPacket connAck = client.expect(CONNACK);

        assertThat(connAck.reasonCode()).isEqualTo(allowed ? 0 : ReasonCode.NOT_AUTHORIZED.value());
        if (!allowed) {
            client.expectClosed();
        }
    }

    @Test
    @DisplayName("row 42: the will is looked at again when it is published")
    void aWillWhoseWriterLostTheRightIsNotPublished() {
        RawClient reader = user("reader");
        reader.subscribe("data/#", 0);
        RawClient client = broker.open(MQTT_5);
        client.connect(
                as("writer", "testator").will(PublishBytes.to("data/will").payload("x")));
        reload(RULES.replace("topic write data/#", "topic write other/#"));
        client.abort();

        await().until(() -> broker.broker()
                .clients()
                .all(info -> !info.identity().clientId().equals("testator"))
                .block());
        reader.expectNothing();
    }

    private void reload(String rules) {
        write(rules);
        assertThat(broker.broker().reload().failed()).isEmpty();
    }

    @Test
    @DisplayName("row 47: what a filter allows as a whole, a denial within it takes out of the deliveries")
    void aDenialWithinAnAllowedFilterHoldsForDeliveriesAndRetainedMessages() {
        reload(RULES.replace("topic read data/#", "topic read data/#\ntopic deny data/secret"));
        RawClient writer = user("writer");
        writer.publish(PublishBytes.to("data/secret").payload("kept").retained().qos(1));
        writer.publish(PublishBytes.to("data/open").payload("kept").retained().qos(1));
        RawClient reader = user("reader");
        int code = reader.subscribe("data/#", 1).reasonCodes().get(0);
        if (code == 1) {
            reader.expectPublish("data/open", "kept");
        }
        writer.publish("data/secret", "live", 1);

        reader.expectNothing();
    }

    @Test
    @DisplayName("row 43: existing subscriptions end with the right, within a second")
    void revocationEndsSubscriptions() {
        RawClient reader = user("reader");
        reader.subscribe("data/#", 0);
        RawClient writer = user("writer");
        writer.publish("data/t", "before", 1);
        reader.expectPublish("data/t", "before");
        reload(RULES.replace("topic read data/#", "topic read other/#"));

        writer.publish("data/t", "after", 1);
        reader.expectNothing();
        await().atMost(Duration.ofSeconds(30)).until(() -> subscriptions("reader-client") == 0);
    }

    private int subscriptions(String clientId) {
        return broker.broker()
                .clients()
                .filter(info -> info.identity().clientId().equals(clientId))
                .map(info -> info.subscriptions())
                .blockFirst();
    }

    @Test
    @DisplayName("row 43: what waits for an offline client is not delivered once the right is gone")
    void revocationHoldsForQueuedMessagesAndTheResumedSession() {
        RawClient reader = user("reader");
        reader.subscribe("data/#", 1);
        reader.abort();
        user("writer").publish("data/t", "queued", 1);
        reload(RULES.replace("topic read data/#", "topic read other/#"));

        RawClient back = broker.open(MQTT_5);
        assertThat(back.connect(as("reader", "reader-client").persistent(1_000)).sessionPresent())
                .isTrue();
        back.expectNothing();
        await().until(() -> subscriptions("reader-client") == 0);
    }

    @Test
    @DisplayName("row 43: what was sent and not acknowledged is not sent again once the right is gone")
    void revocationHoldsForMessagesInFlight() {
        RawClient reader = user("reader");
        reader.subscribe("data/#", 1);
        user("writer").publish("data/t", "in flight", 1);
        reader.expectPublish("data/t", "in flight");
        reader.abort();
        reload(RULES.replace("topic read data/#", "topic read other/#"));

        RawClient back = user("reader");
        back.expectNothing();
    }

    @Test
    void revocationHoldsForThePublisherAtOnce() {
        RawClient writer = user("writer");
        assertThat(published(writer, "data/t", 1)).isLessThan(0x80);
        reload(RULES.replace("topic write data/#", "topic write other/#"));

        assertThat(published(writer, "data/t", 1)).isEqualTo(ReasonCode.NOT_AUTHORIZED.value());
        assertThat(published(writer, "other/t", 1)).isLessThan(0x80);
    }

    @Test
    @DisplayName("row 43: retained messages are not read once the right is gone")
    void revocationHoldsForRetainedMessages() {
        user("writer")
                .publish(PublishBytes.to("data/kept").payload("x").retained().qos(1));
        RawClient reader = user("reader");
        reload(RULES.replace("topic read data/#", "topic read other/#"));

        assertThat(reader.subscribe("data/#", 1).reasonCodes()).containsExactly(ReasonCode.NOT_AUTHORIZED.value());
        reader.expectNothing();
    }

    @Test
    @DisplayName("row 45: a QoS 2 message counts when it is accepted; its release changes nothing any more")
    void revocationBetweenPublishAndRelease() {
        RawClient reader = user("reader");
        reader.subscribe("data/#", 0);
        RawClient writer = user("writer");
        writer.send(PublishBytes.to("data/t").qos(2, 5).payload("accepted")).expect(PUBREC);
        reader.expectPublish("data/t", "accepted");
        reload(RULES.replace("topic write data/#", "topic write other/#"));
        writer.acknowledge(0x62, 5).expect(PUBCOMP);

        reader.expectNothing();
    }

    @Test
    @DisplayName("row 49: a malformed ACL file leaves the old rules in force")
    void aMalformedFileChangesNothing() {
        write("topic readwrite #\nnonsense\n");
        assertThat(broker.broker().reload().failed()).hasSize(1);

        assertThat(published(user("nobody"), "data/t", 1)).isEqualTo(ReasonCode.NOT_AUTHORIZED.value());
    }

    @ParameterizedTest
    @DisplayName("row 41: user names that would widen a pattern are not filled in")
    @ValueSource(strings = {"+", "a/b"})
    void wildcardsInAUserNameWidenNothing(String name) {
        RawClient client = user(name, "widening");

        assertThat(client.subscribe("homes/" + name + "/#", 0).reasonCodes())
                .containsExactly(ReasonCode.NOT_AUTHORIZED.value());
        assertThat(client.subscribe("homes/reader/#", 0).reasonCodes())
                .containsExactly(ReasonCode.NOT_AUTHORIZED.value());
    }

    @Test
    @DisplayName("row 50: a client without a user name meets patterns without harm")
    void anAnonymousClientMayDoNothing() {
        RawClient client = broker.client(MQTT_5, "anonymous");

        assertThat(published(client, "homes/null/x", 1)).isEqualTo(ReasonCode.NOT_AUTHORIZED.value());
        assertThat(client.subscribe("homes//x", 0).reasonCodes()).containsExactly(ReasonCode.NOT_AUTHORIZED.value());
        client.ping();
    }

    @Test
    @DisplayName("row 48: system topics are not written")
    void systemTopicsAreNotWritten() {
        for (String topic : new String[] {"$SYS/broker/uptime", "$CONTROL/x"}) {
            assertThat(published(user("writer"), topic, 1)).isEqualTo(ReasonCode.NOT_AUTHORIZED.value());
        }
    }

    @Test
    @DisplayName("row 52: the session of another user cannot be taken over")
    void anotherUsersSessionStays() {
        RawClient owner = user("reader", "shared-id");
        owner.subscribe("data/#", 1);
        RawClient thief = broker.open(MQTT_5);
        thief.send(as("nobody", "shared-id").persistent(1_000));
        assertThat(thief.expect(CONNACK).reasonCode()).isEqualTo(ReasonCode.NOT_AUTHORIZED.value());
        thief.expectClosed();

        user("writer").publish("data/t", "x", 1);
        owner.expectPublish("data/t", "x");
    }

    @Test
    @DisplayName("rows 38, 53: unknown user and wrong password are told alike, long passwords are refused")
    void wrongLogins() {
        ConnectBytes[] wrong = {
            ConnectBytes.of("c").userName("writer").password("guess"),
            ConnectBytes.of("c").userName("unknown").password("secret"),
            ConnectBytes.of("c").userName("writer"),
            ConnectBytes.of("c").userName("writer").password("x".repeat(60_000)),
            ConnectBytes.of("c").userName("writer").password("secret\0"),
        };
        for (ConnectBytes connect : wrong) {
            RawClient client = broker.open(MQTT_5);
            client.send(connect).send(PublishBytes.to("data/t").payload("behind"));
            assertThat(client.expect(CONNACK).reason()).isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
            client.expectClosed();
        }
    }
}
