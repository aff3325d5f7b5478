// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.DISCONNECT;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketExpectation;
import io.smqtt.test.packet.PacketRow;
import io.smqtt.test.packet.PacketTable;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Each row of the packet table that breaks the protocol, sent to a broker: it ends its own connection, with the right
 * reason code, and nobody else's. While the rows run, the messages of two bystanders go through.
 */
class MalformedPacketTest {

    private static final int ROWS_PER_ROUND_TRIP = 10;
    private static final Counters COUNTERS = new Counters();

    @RegisterExtension
    static final BrokerExtension BROKER = new BrokerExtension(config -> config, parts -> parts.observer(COUNTERS));

    private final List<String> surprises = new ArrayList<>();
    private RawClient sender;
    private RawClient receiver;
    private int rows;

    @BeforeEach
    void bystandersConnect() {
        sender = BROKER.client(MQTT_5, "bystander-sender");
        receiver = BROKER.client(MQTT_3_1_1, "bystander-receiver");
        receiver.subscribe("bystander", 1);
    }

    /** The bystanders have met nothing but each other. */
    @AfterEach
    void bystandersAreThereStill() {
        roundTrip("the end");
        sender.expectNothing();
        receiver.expectNothing();
    }

    private void roundTrip(String payload) {
        sender.publish("bystander", payload, 1);
        receiver.acknowledge(0x40, receiver.expectPublish("bystander", payload).packetId());
    }

    private void play(Predicate<PacketRow> which) {
        for (PacketRow row : PacketTable.rows()) {
            if (row.expectation() instanceof PacketExpectation.Violation violation && which.test(row)) {
                play(row, violation.reason());
            }
        }
        assertThat(surprises).isEmpty();
        assertThat(rows).isGreaterThan(2);
    }

    private void play(PacketRow row, ReasonCode reason) {
        ProtocolVersion version = row.version();
        String surprise = version == null ? first(row, reason) : later(row, version, reason);
        if (surprise != null) {
            surprises.add(row + ": " + surprise);
        }
        if (rows++ % ROWS_PER_ROUND_TRIP == 0) {
            roundTrip(row.name());
        }
    }

    /** The row as the first packet: one answer exactly, see {@link #answerToFirst}. */
    private static @Nullable String first(PacketRow row, ReasonCode reason) {
        try (RawClient client = RawClient.to(BROKER.address(), MQTT_5)) {
            client.socket().setSoTimeout(5_000);
            send(client, row);
            byte[] answer = client.socket().getInputStream().readAllBytes();
            byte[] expected = answerToFirst(row.bytes(), reason);
            boolean v5 = expected.length == 4 && (expected[3] & 0xFF) >= 0x80; // then properties follow
            byte[] told = v5 && answer.length > 4 ? new byte[] {answer[0], 2, answer[2], answer[3]} : answer;
            return Arrays.equals(told, expected)
                    ? null
                    : "the answer was " + Arrays.toString(answer) + ", not " + Arrays.toString(expected);
        } catch (SocketTimeoutException e) {
            return "the connection stayed open";
        } catch (IOException e) {
            return "the connection was reset: " + e;
        }
    }

    /**
     * What the broker answers to a first packet that breaks the protocol: nothing if it is no CONNECT or not even its
     * version arrived; a CONNACK with the reason code in MQTT 5.0; before that one with a return code, where there is one
     * for the reason, and otherwise nothing [MQTT311-3.1.4-1].
     *
     * @return the CONNACK without properties, or nothing
     */
    private static byte[] answerToFirst(byte[] first, ReasonCode reason) {
        int level = level(first);
        if (level < 0) {
            return new byte[0];
        }
        if (level >= 5) {
            return new byte[] {0x20, 2, 0, (byte) reason.value()};
        }
        return switch (reason) {
            case UNSUPPORTED_PROTOCOL_VERSION -> new byte[] {0x20, 2, 0, 1};
            case CLIENT_IDENTIFIER_NOT_VALID -> new byte[] {0x20, 2, 0, 2};
            default -> new byte[0];
        };
    }

    /** The protocol level of a CONNECT that is complete and has a known protocol name, without a bridge's bit; or -1. */
    private static int level(byte[] first) {
        if (first.length < 2 || first[0] != 0x10) {
            return -1;
        }
        int at = 1;
        int length = 0;
        for (int shift = 0; at < first.length; shift += 7) {
            int part = first[at++] & 0xFF;
            length |= (part & 0x7F) << shift;
            if (part < 0x80) {
                break;
            }
        }
        String text = new String(first, at, first.length - at, StandardCharsets.ISO_8859_1);
        boolean complete = first.length - at >= length;
        String mqtt = "\0\4MQTT";
        String old = "\0\6MQIsdp";
        String name = text.startsWith(mqtt) ? mqtt : text.startsWith(old) ? old : text;
        int level = complete && name.length() < text.length() ? first[at + name.length()] & 0x7F : -1;
        return name.equals(old) ? Math.min(level, 3) : level;
    }

    private static @Nullable String later(PacketRow row, ProtocolVersion version, ReasonCode reason) {
        try (RawClient client = RawClient.to(BROKER.address(), version)) {
            client.connect("hostile");
            send(client, row);
            ReceivedPacket answer = client.receive();
            if (!version.isV5()) {
                return answer == null ? null : answer + " came";
            }
            if (answer == null) {
                return "no DISCONNECT came";
            }
            boolean told = answer.type() == DISCONNECT && answer.reason() == reason;
            return told && client.receive() == null ? null : answer + " came";
        } catch (AssertionError e) {
            return e.getMessage();
        }
    }

    private static void send(RawClient client, PacketRow row) {
        client.send(row.bytes());
        if (row.bytes().length == 0) {
            throw new IllegalStateException("an empty row breaks nothing");
        }
    }

    private static int type(PacketRow row) {
        return (row.bytes()[0] & 0xFF) >> 4;
    }

    private static Predicate<PacketRow> of(@Nullable ProtocolVersion version, int... types) {
        return row -> row.version() == version && Arrays.stream(types).anyMatch(type -> type == type(row));
    }

    private static Predicate<PacketRow> named(@Nullable ProtocolVersion version, String... parts) {
        return row -> row.version() == version
                && Arrays.stream(parts).anyMatch(part -> row.name().contains(part));
    }

    @Test
    void malformedFirstPackets() { // [MQTT-4.13.1-1]
        play(row -> row.version() == null);
    }

    @Test
    void everyPacketBeforeTheConnectIsAViolation() {
        for (PacketRow row : PacketTable.rows()) {
            if (row.version() == MQTT_5 && row.bytes().length > 0 && type(row) != 1) {
                PacketRow first = new PacketRow(row.name(), null, row.bytes(), row.expectation(), row.tags());
                play(first, ReasonCode.PROTOCOL_ERROR);
            }
        }
        assertThat(surprises).isEmpty();
        assertThat(rows).isGreaterThan(100);
    }

    @Test
    void publishesOfVersion5() { // [MQTT-3.3.1-4] [MQTT-3.3.2-1] [MQTT-2.2.1-3]
        play(of(MQTT_5, 3));
    }

    @Test
    void publishesOfVersion311() { // [MQTT311-3.3.1-4] [MQTT311-3.3.2-1] [MQTT311-4.8.0-1] [MQTT311-4.8.0-2]
        play(of(MQTT_3_1_1, 3));
    }

    @Test
    void acknowledgementsOfVersion5() { // [MQTT-3.6.1-1]
        play(of(MQTT_5, 4, 5, 6, 7));
    }

    @Test
    void acknowledgementsOfVersion311() { // [MQTT311-3.6.1-1]
        play(of(MQTT_3_1_1, 4, 5, 6, 7));
    }

    @Test
    void subscribesOfVersion5() { // [MQTT-3.8.1-1] [MQTT-3.8.3-1] [MQTT-3.8.3-2] [MQTT-3.8.3-5] [MQTT-2.2.1-3]
        play(of(MQTT_5, 8));
    }

    @Test
    void subscribesOfVersion311() {
        // [MQTT311-3.8.1-1] [MQTT311-3.8.3-1] [MQTT311-3.8.3-3] [MQTT311-3.8.3-4]
        play(of(MQTT_3_1_1, 8));
    }

    @Test
    void unsubscribesOfVersion5() { // [MQTT-3.10.1-1] [MQTT-3.10.3-1] [MQTT-3.10.3-2] [MQTT-2.2.1-3]
        play(of(MQTT_5, 10));
    }

    @Test
    void unsubscribesOfVersion311() { // [MQTT311-3.10.1-1] [MQTT311-3.10.3-1] [MQTT311-3.10.3-2]
        play(of(MQTT_3_1_1, 10));
    }

    @Test
    void disconnectsAndAuthsOfVersion5() { // [MQTT-3.14.1-1] [MQTT-3.15.1-1] [MQTT-3.15.2-1]
        play(of(MQTT_5, 14, 15));
    }

    @Test
    void disconnectsOfVersion311() { // [MQTT311-3.14.1-1]
        play(of(MQTT_3_1_1, 14, 15));
    }

    @Test
    void reservedFlags() { // [MQTT-2.1.3-1]
        play(named(MQTT_5, "with flags"));
    }

    @Test
    void reservedFlagsOfVersion311() { // [MQTT311-2.2.2-1] [MQTT311-2.2.2-2]
        play(named(MQTT_3_1_1, "with flags"));
    }

    @Test
    void everythingElse() { // [MQTT-4.13.1-1] [MQTT-1.5.4-1] [MQTT-1.5.4-2] [MQTT-1.5.5-1] [MQTT-1.5.7-1]
        play(row -> row.version() == MQTT_5 && (type(row) == 0 || type(row) < 3 || type(row) == 9 || type(row) > 10));
        assertThat(COUNTERS.ends()).isNotEmpty();
    }

    @Test
    void everythingElseOfOlderVersions() { // [MQTT311-1.5.3-1] [MQTT311-1.5.3-2]
        play(row -> row.version() == ProtocolVersion.MQTT_3_1
                || (row.version() == MQTT_3_1_1 && (type(row) < 3 || type(row) == 9 || type(row) > 10)));
    }
}
