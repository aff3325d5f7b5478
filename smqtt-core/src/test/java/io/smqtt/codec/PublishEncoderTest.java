// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import static io.smqtt.codec.PublishEncoder.NO_IDENTIFIERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import java.lang.management.ManagementFactory;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PublishEncoderTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final PublishEncoder encoder = new PublishEncoder();

    private static ApplicationMessage message(String topic, String payload) {
        return ApplicationMessage.builder(topic).payload(payload).build();
    }

    private String encode(
            ProtocolVersion version, ApplicationMessage message, QoS qos, boolean duplicate, boolean retain, int id) {
        ByteBuf out = Unpooled.buffer();
        encoder.encode(out, version, message, qos, duplicate, retain, id, NO_IDENTIFIERS, -1, 0, true);
        return ByteBufUtil.hexDump(out);
    }

    @Test
    void writesThePlainForms() {
        ApplicationMessage message = message("a/b", "p");

        assertThat(encode(ProtocolVersion.MQTT_3_1_1, message, QoS.AT_MOST_ONCE, false, false, 0))
                .isEqualTo("30060003612f6270");
        assertThat(encode(ProtocolVersion.MQTT_3_1, message, QoS.EXACTLY_ONCE, true, true, 0x1234))
                .isEqualTo("3d080003612f62123470");
        assertThat(encode(ProtocolVersion.MQTT_5, message, QoS.AT_LEAST_ONCE, false, true, 1))
                .isEqualTo("33090003612f6200010070");
    }

    @ParameterizedTest
    @EnumSource(QoS.class)
    void theSameMessageIsTheSameBytesButForPacketIdentifierAndDup(QoS qos) {
        ApplicationMessage message = message("sensors/12/temperature", "x".repeat(300));
        PublishEncoder fresh = new PublishEncoder();
        for (int i = 1; i < 10; i++) {
            boolean duplicate = qos != QoS.AT_MOST_ONCE && i % 3 == 0;
            ByteBuf expected = Unpooled.buffer();
            new PublishEncoder()
                    .encode(
                            expected,
                            ProtocolVersion.MQTT_5,
                            message,
                            qos,
                            duplicate,
                            false,
                            i,
                            NO_IDENTIFIERS,
                            9,
                            0,
                            true);
            ByteBuf out = Unpooled.buffer().writeInt(7);
            fresh.encode(out, ProtocolVersion.MQTT_5, message, qos, duplicate, false, i, NO_IDENTIFIERS, 9, 0, true);

            assertThat(out.readInt()).isEqualTo(7);
            assertThat(out).isEqualTo(expected);
        }
    }

    @Test
    void anyChangeOfFormIsEncodedAnew() {
        Random random = new Random(1);
        ApplicationMessage[] messages = {message("a", "1"), message("a", "2"), message("b/c", "x".repeat(70_000))};
        int[][] identifiers = {NO_IDENTIFIERS, NO_IDENTIFIERS, NO_IDENTIFIERS, {1}, {128, 3}};
        for (int i = 0; i < 5_000; i++) {
            ProtocolVersion version = ProtocolVersion.values()[random.nextInt(3)];
            ApplicationMessage message = messages[random.nextInt(random.nextInt(20) == 0 ? 3 : 2)];
            QoS qos = QoS.of(random.nextInt(2));
            boolean retain = random.nextInt(3) == 0;
            int[] ids = identifiers[random.nextInt(identifiers.length)];
            long expiry = random.nextInt(4) == 0 ? 5 : -1;
            int alias = random.nextInt(4) == 0 ? 3 : 0;
            boolean present = alias == 0 || random.nextBoolean();
            ByteBuf expected = Unpooled.buffer();
            new PublishEncoder().encode(expected, version, message, qos, false, retain, i, ids, expiry, alias, present);
            ByteBuf out = Unpooled.buffer();
            encoder.encode(out, version, message, qos, false, retain, i, ids, expiry, alias, present);

            assertThat(out.equals(expected)).isTrue();
            assertThat(PublishEncoder.size(version, message, qos, ids, expiry, alias, present))
                    .isEqualTo(out.readableBytes());
        }
    }

    @Test // [MQTT-3.3.4-3] [MQTT-3.3.4-4]
    void writesWhatBelongsToOneSubscriberInFrontOfWhatThePublisherSent() {
        ApplicationMessage message = ApplicationMessage.builder("t")
                .properties(PublishProperties.builder()
                        .payloadUtf8()
                        .userProperty("n", "v")
                        .build())
                .build();
        ByteBuf out = Unpooled.buffer();
        encoder.encode(
                out,
                ProtocolVersion.MQTT_5,
                message,
                QoS.AT_MOST_ONCE,
                false,
                false,
                0,
                new int[] {1, 128},
                60,
                9,
                false);

        assertThat(ByteBufUtil.hexDump(out))
                .isEqualTo("30" + "19" + "0000" + "16" + "020000003c" + "230009" + "0b01" + "0b8001" + "0101"
                        + "2600016e000176");
    }

    @Test
    void theHeaderAloneIsThePacketWithoutItsPayload() {
        ApplicationMessage message = message("a/b", "x".repeat(100_000));
        ByteBuf whole = Unpooled.buffer();
        encoder.encode(
                whole, ProtocolVersion.MQTT_5, message, QoS.AT_LEAST_ONCE, true, true, 7, new int[] {5}, 9, 0, true);
        ByteBuf header = Unpooled.buffer();
        encoder.encodeHeader(
                header, ProtocolVersion.MQTT_5, message, QoS.AT_LEAST_ONCE, true, true, 7, new int[] {5}, 9, 0, true);

        assertThat(header).isEqualTo(whole.slice(0, whole.readableBytes() - 100_000));
    }

    @Test
    void whatCanBeNoPacketIsRefusedBeforeAnythingIsWritten() {
        byte[] bytes = new byte[FixedHeader.MAXIMUM_REMAINING_LENGTH];
        ApplicationMessage message =
                ApplicationMessage.builder("t").payload(Payload.of(bytes)).build();
        ByteBuf out = Unpooled.buffer();

        assertThat(PublishEncoder.size(
                        ProtocolVersion.MQTT_3_1_1, message, QoS.AT_MOST_ONCE, NO_IDENTIFIERS, -1, 0, true))
                .isGreaterThan(PacketEncoder.MAXIMUM_PACKET_BYTES);
        assertThatThrownBy(() -> encoder.encode(
                        out,
                        ProtocolVersion.MQTT_3_1_1,
                        message,
                        QoS.AT_MOST_ONCE,
                        false,
                        false,
                        0,
                        NO_IDENTIFIERS,
                        -1,
                        0,
                        true))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(out.isReadable()).isFalse();
    }

    @Test
    void encodingAgainAllocatesNothing() {
        ApplicationMessage first = message("a/b", "p");
        ApplicationMessage second = message("a/b", "q");
        ByteBuf out = Unpooled.buffer(1_000);
        Runnable encodeAll = () -> {
            for (int i = 0; i < 1_000; i++) {
                out.clear();
                ApplicationMessage message = i % 10 == 0 ? first : second;
                encoder.encode(
                        out,
                        ProtocolVersion.MQTT_5,
                        message,
                        QoS.AT_LEAST_ONCE,
                        false,
                        false,
                        1,
                        NO_IDENTIFIERS,
                        -1,
                        0,
                        true);
            }
        };
        encodeAll.run();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        encodeAll.run();

        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(1_000);
    }
}
