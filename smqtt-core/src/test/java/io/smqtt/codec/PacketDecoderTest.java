// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.UserProperty;
import java.lang.management.ManagementFactory;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PacketDecoderTest {

    private static final DecoderLimits LIMITS = new DecoderLimits(65_536, 100, 4_096, 128, 1_000);
    private static final int MAXIMUM_PACKET_BYTES = 1 << 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final PacketDecoder decoder = new PacketDecoder(LIMITS);
    private final PacketRecorder recorder = new PacketRecorder();

    private boolean decode(@Nullable ProtocolVersion version, String hex) {
        return decoder.decode(bytes(hex), version, MAXIMUM_PACKET_BYTES, recorder);
    }

    private void decodeBody(@Nullable ProtocolVersion version, int first, String hex) {
        ByteBuf body = bytes(hex);
        ByteBuf header = Unpooled.buffer().writeByte(first);
        VariableByteInteger.write(header, body.readableBytes());
        ByteBuf in = Unpooled.wrappedBuffer(header, body);
        assertThat(decoder.decode(in, version, MAXIMUM_PACKET_BYTES, recorder)).isTrue();
    }

    private static ByteBuf bytes(String hex) {
        return Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex.replace(" ", "")));
    }

    private ProtocolViolation refused(@Nullable ProtocolVersion version, String hex) {
        return catchThrowableOfType(ProtocolViolation.class, () -> decode(version, hex));
    }

    @Test
    void readsEveryFieldOfAConnect() {
        decodeBody(
                null,
                0x10,
                "0004 4D515454 05 EE 003C" // MQTT 5.0, all flags but the reserved one, will QoS 1
                        + "2A 11 00000E10 21 0014 27 00010000 22 000A 19 01 17 00"
                        + "26 0001 61 0001 62 15 0001 6D 16 0002 00FF 26 0001 63 0000"
                        + "0002 6964"
                        + "20 18 00000005 01 01 02 0000000A 03 0001 74 08 0001 72 09 0002 00FF 26 0001 6E 0001 76"
                        + "0001 77 0003 62 79 65"
                        + "0004 75736572 0002 0080");

        ConnectPacket packet = recorder.only(ConnectPacket.class);
        assertThat(packet.version()).isEqualTo(ProtocolVersion.MQTT_5);
        assertThat(packet.clientId()).isEqualTo("id");
        assertThat(packet.cleanStart()).isTrue();
        assertThat(packet.keepAliveSeconds()).isEqualTo(60);
        assertThat(packet.sessionExpirySeconds()).isEqualTo(3_600);
        assertThat(packet.receiveMaximum()).isEqualTo(20);
        assertThat(packet.maximumPacketSize()).isEqualTo(65_536);
        assertThat(packet.topicAliasMaximum()).isEqualTo(10);
        assertThat(packet.requestResponseInformation()).isTrue();
        assertThat(packet.requestProblemInformation()).isFalse();
        assertThat(packet.userProperties()).containsExactly(new UserProperty("a", "b"), new UserProperty("c", ""));
        assertThat(packet.authenticationMethod()).isEqualTo("m");
        assertThat(packet.authenticationData()).containsExactly(0, 0xFF);
        assertThat(packet.userName()).isEqualTo("user");
        assertThat(packet.password()).containsExactly(0, 0x80);
        assertThat(packet.toString()).doesNotContain("user");
        assertThat(packet.will().delaySeconds()).isEqualTo(5);
        assertThat(packet.will().message().topic().value()).isEqualTo("w");
        assertThat(packet.will().message().payload().asString()).isEqualTo("bye");
        assertThat(packet.will().message().qos()).isEqualTo(QoS.AT_LEAST_ONCE);
        assertThat(packet.will().message().retain()).isTrue();
        assertThat(packet.will().message().expiryIntervalSeconds()).isEqualTo(10);
        assertThat(packet.will().message().properties().isPayloadUtf8()).isTrue();
        assertThat(packet.will().message().properties().contentType()).isEqualTo("t");
        assertThat(packet.will().message().properties().responseTopic()).isEqualTo("r");
        assertThat(packet.will().message().properties().correlationData()).containsExactly(0, 0xFF);
        assertThat(packet.will().message().properties().userProperties()).containsExactly(new UserProperty("n", "v"));
    }

    @ParameterizedTest
    @CsvSource({"04, 02, 0", "04, 00, 4294967295", "05, 00, 0", "05, 02, 0"})
    void aConnectWithoutPropertiesHasTheDefaults(String level, String flags, long expiry) {
        String properties = level.equals("05") ? "00" : "";
        String length = level.equals("05") ? "0E" : "0D";

        decode(null, "10" + length + "0004 4D515454" + level + flags + "0000" + properties + "0001 63");

        ConnectPacket packet = recorder.only(ConnectPacket.class);
        assertThat(packet.sessionExpirySeconds()).isEqualTo(expiry);
        assertThat(packet.receiveMaximum()).isEqualTo(65_535);
        assertThat(packet.maximumPacketSize()).isEqualTo(0xFFFF_FFFFL);
        assertThat(packet.topicAliasMaximum()).isZero();
        assertThat(packet.requestResponseInformation()).isFalse();
        assertThat(packet.requestProblemInformation()).isTrue();
        assertThat(packet.userProperties()).isEmpty();
        assertThat(packet.will()).isNull();
        assertThat(packet.userName()).isNull();
        assertThat(packet.password()).isNull();
    }

    @Test // MQTT 3.1, section 3.1: the remaining length outweighs the flags
    void inMqtt31UserNameAndPasswordMayBeMissingInSpiteOfTheirFlags() {
        decode(null, "10 0F 0006 4D5149736470 03 C2 0000 0001 63");

        assertThat(recorder.only(ConnectPacket.class).userName()).isNull();
        assertThat(recorder.only(ConnectPacket.class).password()).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "10 0D 0004 4D515454 06 02 0000 0001 63, MQTT_5",
        "10 0D 0004 4D515454 03 02 0000 0001 63, MQTT_3_1_1",
        "10 0D 0004 4D515454 85 02 0000 0001 63, MQTT_5",
        "10 0F 0006 4D5149736470 04 02 0000 0001 63, MQTT_3_1",
        "10 0D 0004 4D515458 04 02 0000 0001 63, "
    })
    void anUnsupportedProtocolTellsInWhichFormToAnswer(String hex, @Nullable ProtocolVersion version) {
        ProtocolViolation violation = refused(null, hex);

        assertThat(violation.reason()).isEqualTo(ReasonCode.UNSUPPORTED_PROTOCOL_VERSION);
        assertThat(violation.connectVersion()).isEqualTo(version);
    }

    @Test
    void aViolationInAConnectTellsItsVersionAndOneElsewhereDoesNot() {
        assertThat(refused(null, "10 0D 0004 4D515454 04 03 0000 0001 63").connectVersion())
                .isEqualTo(ProtocolVersion.MQTT_3_1_1);
        assertThat(refused(null, "10 0E 0004 4D515454 05 03 0000 00 0001 63").connectVersion())
                .isEqualTo(ProtocolVersion.MQTT_5);
        assertThat(refused(ProtocolVersion.MQTT_5, "D0 00").connectVersion()).isNull();
    }

    @Test // [MQTT-3.3.2-4] [MQTT-3.3.2-17] [MQTT-3.3.2-18] [MQTT-3.3.2-20]
    void whatBelongsToTheConnectionIsCutOutOfThePropertiesOfAPublish() {
        decodeBody(
                ProtocolVersion.MQTT_5,
                0x32,
                "0001 74 0007"
                        + "21 23 0009 01 01 26 0001 61 0001 62 02 0000003C 09 0002 00FF 26 0001 61 0001 63 08 0001 72"
                        + "70");

        PacketRecorder.Publish packet = recorder.only(PacketRecorder.Publish.class);
        assertThat(packet.topicAlias()).isEqualTo(9);
        assertThat(packet.packetId()).isEqualTo(7);
        assertThat(packet.message().expiryIntervalSeconds()).isEqualTo(60);
        assertThat(packet.message().payload().asString()).isEqualTo("p");
        assertThat(packet.message().properties().encodedBytes()).isEqualTo(0x21 - 3 - 5);
        assertThat(packet.message().properties().isPayloadUtf8()).isTrue();
        assertThat(packet.message().properties().correlationData()).containsExactly(0, 0xFF);
        assertThat(packet.message().properties().responseTopic()).isEqualTo("r");
        assertThat(packet.message().properties().userProperties())
                .containsExactly(new UserProperty("a", "b"), new UserProperty("a", "c"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "08 23 0009 02 0000003C",
                "08 02 0000003C 23 0009",
                "0A 02 0000003C 01 01 23 0009",
                "0A 01 01 23 0009 02 0000003C",
                "0A 23 0009 02 0000003C 01 01"
            })
    void aliasAndExpiryAreCutOutWhereverTheyStand(String block) {
        int length = 4 + block.replace(" ", "").length() / 2 - 1;

        decode(ProtocolVersion.MQTT_5, String.format("30 %02X 0001 74 %s", length, block));

        PacketRecorder.Publish packet = recorder.only(PacketRecorder.Publish.class);
        assertThat(packet.topicAlias()).isEqualTo(9);
        assertThat(packet.message().expiryIntervalSeconds()).isEqualTo(60);
        assertThat(packet.message().properties().isPayloadUtf8()).isEqualTo(block.startsWith("0A"));
        assertThat(packet.message().properties().encodedBytes()).isEqualTo(block.startsWith("0A") ? 2 : 0);
    }

    @Test
    void propertiesOfOnePublishDoNotShowInTheNext() {
        decode(ProtocolVersion.MQTT_5, "30 0C 0001 74 08 23 0009 02 0000003C");
        decode(ProtocolVersion.MQTT_5, "30 04 0001 74 00");
        decode(ProtocolVersion.MQTT_3_1_1, "30 03 0001 74");

        for (Object packet : recorder.packets.subList(1, 3)) {
            PacketRecorder.Publish publish = (PacketRecorder.Publish) packet;
            assertThat(publish.topicAlias()).isZero();
            assertThat(publish.message().expiryIntervalSeconds()).isEqualTo(-1);
            assertThat(publish.message().properties().isEmpty()).isTrue();
        }
    }

    @Test
    void readsTheOptionsOfASubscribe() {
        decode(ProtocolVersion.MQTT_5, "82 10 0001 03 0B 80 01 0001 61 2E 0003 622F23 01");

        assertThat(recorder.only(SubscribePacket.class))
                .isEqualTo(new SubscribePacket(
                        1,
                        128,
                        List.of(
                                new SubscribePacket.Request("a", QoS.EXACTLY_ONCE, true, true, 2),
                                new SubscribePacket.Request("b/#", QoS.AT_LEAST_ONCE, false, false, 0))));
    }

    @Test
    void readsSessionExpiryOfADisconnectAndMethodOfAnAuth() {
        decode(ProtocolVersion.MQTT_5, "E0 07 04 05 11 00000001");
        decode(ProtocolVersion.MQTT_5, "F0 0B 19 09 15 0001 6D 16 0002 00FF");

        assertThat(recorder.packets.get(0)).isEqualTo(new DisconnectPacket(ReasonCode.DISCONNECT_WITH_WILL, 1));
        AuthPacket auth = (AuthPacket) recorder.packets.get(1);
        assertThat(auth.reason()).isEqualTo(ReasonCode.REAUTHENTICATE);
        assertThat(auth.method()).isEqualTo("m");
        assertThat(auth.data()).containsExactly(0, 0xFF);
    }

    @Test
    void thePublishViewIsEmptyAfterTheCall() {
        PublishPacket[] view = new PublishPacket[1];
        PacketHandler keep = new ForwardingHandler(recorder) {
            @Override
            public void onPublish(PublishPacket packet) {
                view[0] = packet;
            }
        };

        decoder.decode(bytes("30 04 0001 74 70"), ProtocolVersion.MQTT_3_1_1, MAXIMUM_PACKET_BYTES, keep);

        assertThat(view[0].source).isSameAs(Unpooled.EMPTY_BUFFER);
    }

    @Test
    void theReaderIndexIsBehindThePacketWhenTheHandlerIsCalled() {
        ByteBuf in = bytes("C0 00 30 04 0001 74 70 C0 00");
        int[] index = new int[1];
        PacketHandler handler = new ForwardingHandler(recorder) {
            @Override
            public void onPublish(PublishPacket packet) {
                index[0] = in.readerIndex();
                assertThat(packet.payload().asString()).isEqualTo("p");
            }
        };
        while (decoder.decode(in, ProtocolVersion.MQTT_3_1_1, MAXIMUM_PACKET_BYTES, handler)) {
            assertThat(in.readerIndex()).isPositive();
        }

        assertThat(index[0]).isEqualTo(8);
        assertThat(recorder.packets).hasSize(2);
    }

    @Test
    void anExceptionOfTheHandlerComesThroughAsItIs() {
        PacketHandler failing = new ForwardingHandler(recorder) {
            @Override
            public void onPingReq() {
                throw new IllegalStateException("mine");
            }
        };

        assertThatThrownBy(() -> decoder.decode(bytes("C0 00"), ProtocolVersion.MQTT_5, 100, failing))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void thePacketSizeIsCheckedWithTheFixedHeaderIncluded() {
        assertThat(decoder.decode(bytes("30 04 0001 74 70"), ProtocolVersion.MQTT_3_1_1, 6, recorder))
                .isTrue();
        assertThatThrownBy(() -> decoder.decode(bytes("30 04"), ProtocolVersion.MQTT_3_1_1, 5, recorder))
                .isInstanceOfSatisfying(
                        ProtocolViolation.class, e -> assertThat(e.reason()).isEqualTo(ReasonCode.PACKET_TOO_LARGE));
    }

    @Test
    void nothingIsAllocatedForBytesThatAreOnlyAnnounced() {
        ByteBuf direct = Unpooled.directBuffer();
        try {
            ByteBuf heap = bytes("30 FF FF FF 7F FF FF 61");
            direct.writeBytes(heap.duplicate());
            long heapBytes = allocatedBy(
                    () -> decoder.decode(heap, ProtocolVersion.MQTT_5, PacketEncoder.MAXIMUM_PACKET_BYTES, recorder));
            long directBytes = allocatedBy(
                    () -> decoder.decode(direct, ProtocolVersion.MQTT_5, PacketEncoder.MAXIMUM_PACKET_BYTES, recorder));

            assertThat(heapBytes).isLessThan(1_000);
            assertThat(directBytes).isLessThan(100_000);
            assertThat(recorder.packets).isEmpty(); // leak detection itself records a few stacks
        } finally {
            direct.release();
        }
    }

    @Test
    void decodingAPublishOfAKnownTopicAndAcknowledgementsAllocatesNothing() {
        ByteBuf in = bytes("32 08 0003 612F62 0001 70 40 02 0001 50 02 0001 62 02 0001 70 02 0001 C0 00");
        PacketHandler ignoring = new ForwardingHandler(null);
        Runnable decodeAll = () -> {
            for (int i = 0; i < 1_000; i++) {
                in.readerIndex(0);
                while (decoder.decode(in, ProtocolVersion.MQTT_3_1_1, MAXIMUM_PACKET_BYTES, ignoring)) {
                    continue;
                }
            }
        };
        decodeAll.run();

        assertThat(allocatedBy(decodeAll)).isLessThan(1_000);
    }

    private static long allocatedBy(Runnable action) {
        action.run();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        action.run();
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }
}
