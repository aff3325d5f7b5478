// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import static io.smqtt.message.ProtocolVersion.MQTT_3_1;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PacketEncoderTest {

    private static final long NO_LIMIT = 0xFFFF_FFFFL;

    private final ByteBuf out = Unpooled.buffer();

    private String written() {
        String hex = ByteBufUtil.hexDump(out);
        out.clear();
        return hex;
    }

    @Test
    void acknowledgementsAreShortWhenTheyCanBe() {
        for (ProtocolVersion version : ProtocolVersion.values()) {
            assertThat(PacketEncoder.pubAck(out, version, 1, ReasonCode.SUCCESS, null, NO_LIMIT))
                    .isTrue();
            assertThat(written()).isEqualTo("40020001");
            PacketEncoder.pubRec(out, version, 258, ReasonCode.SUCCESS, null, NO_LIMIT);
            assertThat(written()).isEqualTo("50020102");
            PacketEncoder.pubRel(out, version, 65_535, ReasonCode.SUCCESS, null, NO_LIMIT);
            assertThat(written()).isEqualTo("6202ffff");
            PacketEncoder.pubComp(out, version, 1, ReasonCode.SUCCESS, null, NO_LIMIT);
            assertThat(written()).isEqualTo("70020001");
        }
    }

    @Test
    void acknowledgementsSayWhyInMqtt5Only() {
        PacketEncoder.pubAck(out, MQTT_5, 1, ReasonCode.NOT_AUTHORIZED, null, NO_LIMIT);
        assertThat(written()).isEqualTo("4003000187");
        PacketEncoder.pubAck(out, MQTT_5, 1, ReasonCode.NOT_AUTHORIZED, "no", NO_LIMIT);
        assertThat(written()).isEqualTo("4009000187051f00026e6f");
        PacketEncoder.pubAck(out, MQTT_5, 1, ReasonCode.SUCCESS, "ok", NO_LIMIT);
        assertThat(written()).isEqualTo("4009000100051f00026f6b");
        PacketEncoder.pubAck(out, MQTT_3_1_1, 1, ReasonCode.NOT_AUTHORIZED, "no", NO_LIMIT);
        assertThat(written()).isEqualTo("40020001");
    }

    @Test // [MQTT-3.4.2-2] [MQTT-3.9.2-1] [MQTT-3.11.2-1] [MQTT-3.14.2-3] [MQTT-3.15.2-2] [MQTT-3.2.2-19]
    void aReasonStringIsLeftOutWhenThePacketWouldBeTooLarge() {
        PacketEncoder.pubAck(out, MQTT_5, 1, ReasonCode.NOT_AUTHORIZED, "no", 11);
        assertThat(written()).isEqualTo("4009000187051f00026e6f");
        assertThat(PacketEncoder.pubAck(out, MQTT_5, 1, ReasonCode.NOT_AUTHORIZED, "no", 10))
                .isTrue();
        assertThat(written()).isEqualTo("4003000187");
        PacketEncoder.subAck(out, MQTT_5, 1, List.of(ReasonCode.NOT_AUTHORIZED), "no", 10);
        assertThat(written()).isEqualTo("900400010087");
        PacketEncoder.unsubAck(out, MQTT_5, 1, List.of(ReasonCode.SUCCESS), "no", 10);
        assertThat(written()).isEqualTo("b00400010000");
        PacketEncoder.disconnect(out, MQTT_5, ReasonCode.SERVER_BUSY, "no", null, 8);
        assertThat(written()).isEqualTo("e00189");
        PacketEncoder.connAck(out, MQTT_5, ConnAck.refused(ReasonCode.SERVER_BUSY, "no", null), 9);
        assertThat(written()).isEqualTo("2003008900");
        AuthPacket auth = new AuthPacket(ReasonCode.CONTINUE_AUTHENTICATION, "m", new byte[] {1});
        PacketEncoder.auth(out, auth, "no", 16);
        assertThat(written()).isEqualTo("f00a1808150001" + "6d" + "16000101");
        PacketEncoder.pubAck(out, MQTT_5, 1, ReasonCode.NOT_AUTHORIZED, "x".repeat(65_536), NO_LIMIT);
        assertThat(written()).isEqualTo("4003000187");
    }

    @Test // [MQTT-3.1.2-24]
    void aPacketThatDoesNotFitAtAllIsNotWritten() {
        List<ReasonCode> reasons = List.of(ReasonCode.SUCCESS, ReasonCode.SUCCESS);
        AuthPacket auth = new AuthPacket(ReasonCode.CONTINUE_AUTHENTICATION, "method", null);

        assertThat(PacketEncoder.pubAck(out, MQTT_5, 1, ReasonCode.SUCCESS, null, 3))
                .isFalse();
        assertThat(PacketEncoder.subAck(out, MQTT_5, 1, reasons, null, 6)).isFalse();
        assertThat(PacketEncoder.subAck(out, MQTT_3_1_1, 1, reasons, null, 5)).isFalse();
        assertThat(PacketEncoder.unsubAck(out, MQTT_5, 1, reasons, null, 6)).isFalse();
        assertThat(PacketEncoder.unsubAck(out, MQTT_3_1_1, 1, reasons, null, 3)).isFalse();
        assertThat(PacketEncoder.disconnect(out, MQTT_5, ReasonCode.SERVER_BUSY, null, null, 2))
                .isFalse();
        assertThat(PacketEncoder.auth(out, auth, null, 10)).isFalse();
        assertThat(PacketEncoder.connAck(out, MQTT_5, ConnAck.refused(ReasonCode.SERVER_BUSY, null, null), 4))
                .isFalse();
        assertThat(out.isReadable()).isFalse();
    }

    @Test
    void subAckAndUnsubAckHaveTheirFormInEachVersion() {
        List<ReasonCode> reasons =
                List.of(ReasonCode.SUCCESS, ReasonCode.GRANTED_QOS_2, ReasonCode.TOPIC_FILTER_INVALID);
        PacketEncoder.subAck(out, MQTT_3_1_1, 10, reasons, "no", NO_LIMIT);
        assertThat(written()).isEqualTo("9005000a000280");
        PacketEncoder.subAck(out, MQTT_5, 10, reasons, null, NO_LIMIT);
        assertThat(written()).isEqualTo("9006000a0000028f");
        PacketEncoder.unsubAck(out, MQTT_3_1, 10, reasons, "no", NO_LIMIT);
        assertThat(written()).isEqualTo("b002000a");
        PacketEncoder.unsubAck(out, MQTT_5, 10, List.of(ReasonCode.NO_SUBSCRIPTION_EXISTED), null, NO_LIMIT);
        assertThat(written()).isEqualTo("b004000a0011");
    }

    @Test
    void pingRespAndDisconnect() {
        PacketEncoder.pingResp(out);
        assertThat(written()).isEqualTo("d000");
        PacketEncoder.disconnect(out, MQTT_5, ReasonCode.SUCCESS, null, null, NO_LIMIT);
        assertThat(written()).isEqualTo("e000");
        PacketEncoder.disconnect(out, MQTT_5, ReasonCode.USE_ANOTHER_SERVER, null, "b", NO_LIMIT);
        assertThat(written()).isEqualTo("e0069c041c000162");
        assertThat(PacketEncoder.disconnect(out, MQTT_3_1_1, ReasonCode.SERVER_BUSY, null, null, NO_LIMIT))
                .isFalse();
        assertThat(written()).isEmpty();
    }

    @ParameterizedTest // MQTT 3.1.1, section 3.2.2.3
    @CsvSource({
        "SUCCESS, 00",
        "UNSUPPORTED_PROTOCOL_VERSION, 01",
        "CLIENT_IDENTIFIER_NOT_VALID, 02",
        "SERVER_UNAVAILABLE, 03",
        "SERVER_BUSY, 03",
        "QUOTA_EXCEEDED, 03",
        "BAD_USER_NAME_OR_PASSWORD, 04",
        "NOT_AUTHORIZED, 05"
    })
    void aConnAckBeforeMqtt5HasAReturnCode(ReasonCode reason, String code) {
        PacketEncoder.connAck(out, MQTT_3_1_1, ConnAck.refused(reason, "why", "other"), NO_LIMIT);

        assertThat(written()).isEqualTo("200200" + code);
    }

    private static ConnAck connAck(boolean present, ReasonCode reason) {
        return new ConnAck(
                present,
                reason,
                3_600,
                10,
                1,
                false,
                70_000,
                "assigned",
                7,
                "why",
                false,
                false,
                false,
                60,
                "info/",
                "other",
                "m",
                new byte[] {1, 2});
    }

    @Test // [MQTT-3.2.2-2] [MQTT-3.2.2-6]
    void sessionPresentIsSentOnlyWithSuccessAndNotInMqtt31() {
        PacketEncoder.connAck(out, MQTT_3_1_1, connAck(true, ReasonCode.SUCCESS), NO_LIMIT);
        assertThat(written()).isEqualTo("20020100");
        PacketEncoder.connAck(out, MQTT_3_1, connAck(true, ReasonCode.SUCCESS), NO_LIMIT);
        assertThat(written()).isEqualTo("20020000");
        PacketEncoder.connAck(out, MQTT_3_1_1, connAck(true, ReasonCode.NOT_AUTHORIZED), NO_LIMIT);
        assertThat(written()).isEqualTo("20020005");
        PacketEncoder.connAck(out, MQTT_5, connAck(true, ReasonCode.NOT_AUTHORIZED), NO_LIMIT);
        assertThat(written().substring(4, 8)).isEqualTo("0087");
    }

    @Test
    void aConnAckWithDefaultsHasNoProperties() {
        PacketEncoder.connAck(out, MQTT_5, ConnAck.refused(ReasonCode.SUCCESS, null, null), NO_LIMIT);

        assertThat(written()).isEqualTo("2003000000");
    }

    @Test
    void aConnAckCarriesAllThatIsNotTheDefault() {
        PacketEncoder.connAck(out, MQTT_5, connAck(true, ReasonCode.SUCCESS), NO_LIMIT);

        assertThat(written())
                .isEqualTo("204a" + "0100" + "47" + "1100000e10" + "21000a" + "2401" + "2700011170" + "220007"
                        + "13003c" + "2500" + "2800" + "2900" + "2a00" + "12000861737369676e6564" + "1a0005696e666f2f"
                        + "1c00056f74686572" + "1500016d" + "1600020102" + "1f0003776879");
    }

    @Test
    void aTextThatCanBeNoPropertyIsRefused() {
        AuthPacket auth = new AuthPacket(ReasonCode.CONTINUE_AUTHENTICATION, "x".repeat(65_536), null);

        assertThatThrownBy(() -> PacketEncoder.auth(out, auth, null, NO_LIMIT))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
