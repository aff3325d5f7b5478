// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WireTest {

    private final Recorder recorder = new Recorder();

    @Test
    void connectOfEachVersionHasItsProtocolName() {
        assertThat(connect(3, null)).isEqualTo("100f00064d51497364700302003c000163");
        assertThat(connect(4, null)).isEqualTo("100d00044d5154540402003c000163");
        assertThat(connect(5, "u")).isEqualTo("101600044d5154540582003c05110000000700016300" + "0175");
    }

    @Test
    void publishIsNumberedStampedAndIdentified() {
        PublishTemplate template = new PublishTemplate(5, "t/" + PublishTemplate.NUMBER, 1, true, 20);
        ByteBuf out = Unpooled.buffer();
        template.write(out, 7, 1000, 3, 42);

        assertThat(out.getByte(0)).isEqualTo((byte) 0x33);
        assertThat(out.toString(4, 10, StandardCharsets.UTF_8)).isEqualTo("t/00000042");
        assertThat(out.getUnsignedShort(14)).isEqualTo(7);
        assertThat(Stamp.isAt(out, 17, 20)).isTrue();
        assertThat(Stamp.sentNanos(out, 17)).isEqualTo(1000);
        assertThat(Stamp.publisher(out, 17)).isEqualTo(3);
        assertThat(Stamp.sequence(out, 17)).isEqualTo(42);
        assertThat(out.readableBytes()).isEqualTo(template.packetBytes());
    }

    @Test
    void payloadInJsonHasItsStampInDigits() {
        byte[] payload = Stamp.json(64, "41.5");
        assertThat(new String(payload, StandardCharsets.UTF_8))
                .isEqualTo("{\"stamp\":\"" + "0".repeat(32) + "\",\"t\":41.5,\"pad\":\"xx\"}");
        ByteBuf out = Unpooled.buffer();
        new PublishTemplate(4, "a", 0, false, List.of(), 0, payload).write(out, 0, 1000, 70_000, 42);
        out.skipBytes(5);

        assertThat(out.toString(StandardCharsets.UTF_8)).matches("\\{\"stamp\":\"[0-9a-f]{16}b50111700000002a\",.*");
        assertThat(Stamp.isAt(out, 5, 64)).isTrue();
        assertThat(Stamp.isAt(out, 5, 41)).isFalse();
        assertThat(Stamp.sentNanos(out, 5)).isEqualTo(1000);
        assertThat(Stamp.publisher(out, 5)).isEqualTo(70_000);
        assertThat(Stamp.sequence(out, 5)).isEqualTo(42);
        assertThat(Stamp.bytes(out, 5)).isEqualTo(42);
    }

    @Test
    void connectHasTheTopicAliasMaximum() {
        ByteBuf out = Unpooled.buffer();
        ClientPackets.connect(out, 5, "c", true, 60, 0, 10, null, null);

        assertThat(ByteBufUtil.hexDump(out)).isEqualTo("101100044d5154540502003c0322000a" + "000163");
    }

    @Test
    void publishHasUserPropertiesAndAlias() {
        List<UserProperty> properties = UserProperty.of(List.of("a=b", "c==d"), 5);
        PublishTemplate template = new PublishTemplate(5, "", 0, false, properties, 3, PublishTemplate.letters(16));
        ByteBuf out = Unpooled.buffer();
        template.write(out, 0, 1000, 3, 42);

        assertThat(ByteBufUtil.hexDump(out, 0, 23))
                .isEqualTo("3025" + "0000" + "12230003" + "26000161000162" + "2600016300023d64");
        ServerPackets.parse(out.duplicate(), 5, recorder);
        assertThat(recorder.seen).singleElement().asString().startsWith("publish 0 0 ");
    }

    @ParameterizedTest
    @CsvSource({"4, 0", "5, 0", "5, 1", "5, 2"})
    void publishIsKnownFromItsHead(int version, int qos) {
        PublishTemplate template = new PublishTemplate(version, "a/b", qos, false, 300);
        ByteBuf whole = Unpooled.buffer();
        template.write(whole, qos == 0 ? 0 : 9, 1000, 3, 42);
        int head = template.packetBytes() - 300 + Stamp.BYTES;

        for (int bytes = 2; bytes < head; bytes++) {
            assertThat(ServerPackets.bytesToStamp(whole.slice(0, bytes), version))
                    .isEqualTo(-1);
        }
        assertThat(ServerPackets.bytesToStamp(whole.slice(0, 100), version)).isEqualTo(head);
        Recorder heads = new Recorder() {
            @Override
            public void publish(ByteBuf in, int payloadAt, int payloadBytes, int qos, int packetIdentifier) {
                seen.add(payloadAt + " " + payloadBytes + " " + qos + " " + packetIdentifier);
            }
        };
        ServerPackets.publishHead(whole.slice(0, head), version, heads);
        assertThat(heads.seen).containsExactly((head - Stamp.BYTES) + " 300 " + qos + " " + (qos == 0 ? 0 : 9));
    }

    @ParameterizedTest
    @CsvSource({
        "20020100, 4, connack true 0 65535 0",
        "20060000032100 0a, 5, connack false 0 10 0",
        "200d00000a1100000001240121000 5, 5, connack false 0 5 0",
        "20090000 06 22000a 210014, 5, connack false 0 20 10",
        "40020001, 4, ack 4 1 0",
        "5003000290, 5, ack 5 2 144",
        "62020003, 4, ack 6 3 0",
        "9004000100 87, 5, suback 1 135",
        "900400010187, 4, suback 1 135",
        "3005000161 6869, 4, publish 0 0 hi",
        "3207000161 00096869, 4, publish 1 9 hi",
        "340a000161 0009 02 0101 6869, 5, publish 2 9 hi",
        "e0018e, 5, disconnect 142",
        "d000, 4, ''",
        "3001 00, 4, malformed",
        "1000, 4, malformed",
        "30ffffffff01, 4, malformed",
    })
    void packetsOfServersAreRead(String hex, int version, String expected) {
        ByteBuf in = bytes(hex);
        ServerPackets.parse(in, version, recorder);

        assertThat(String.join(";", recorder.seen)).isEqualTo(expected);
    }

    @Test
    void packetsMayArriveByteByByte() {
        ByteBuf all = bytes("20020000" + "3207000161 00096869" + "40020001");
        ByteBuf grown = Unpooled.buffer();
        while (all.isReadable()) {
            grown.writeByte(all.readByte());
            ServerPackets.parse(grown, 4, recorder);
        }

        assertThat(recorder.seen).containsExactly("connack false 0 65535 0", "publish 1 9 hi", "ack 4 1 0");
        assertThat(grown.isReadable()).isFalse();
    }

    @Test
    void wantedBytesOfABegunPacketAreTold() {
        assertThat(ServerPackets.parse(bytes("3080 01 0001"), 4, recorder)).isEqualTo(131);
        assertThat(recorder.seen).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "a/%i, a/7",
        "%c/%u/%i%i, client/user/77",
        "100%, 100%",
        "%x/%%i, %x/%7",
    })
    void placeholdersAreFilled(String pattern, String topic) {
        assertThat(TopicPattern.fill(pattern, "client", "user", 7)).isEqualTo(topic);
    }

    @ParameterizedTest
    @CsvSource({"a/b, ''", "#, ''", "a/#, ''", "+/a/+, ''", "a#, #", "a/#/b, #", "a+/b, +", "'', empty"})
    void filtersAreChecked(String filter, String problem) {
        assertThat(TopicPattern.problemOfFilter(filter)).contains(problem);
        assertThat(TopicPattern.problemOfFilter(filter).isEmpty()).isEqualTo(problem.isEmpty());
    }

    private static String connect(int version, String userName) {
        ByteBuf out = Unpooled.buffer();
        ClientPackets.connect(out, version, "c", true, 60, version == 5 ? 7 : 0, 0, userName, null);
        return ByteBufUtil.hexDump(out);
    }

    private static ByteBuf bytes(String hex) {
        return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex.replace(" ", "")));
    }

    private static class Recorder implements ServerPackets.Sink {

        final List<String> seen = new ArrayList<>();

        @Override
        public void connAck(boolean sessionPresent, int reasonCode, int receiveMaximum, int topicAliasMaximum) {
            seen.add("connack " + sessionPresent + " " + reasonCode + " " + receiveMaximum + " " + topicAliasMaximum);
        }

        @Override
        public void publish(ByteBuf in, int payloadAt, int payloadBytes, int qos, int packetIdentifier) {
            seen.add("publish " + qos + " " + packetIdentifier + " "
                    + in.toString(payloadAt, payloadBytes, StandardCharsets.UTF_8));
        }

        @Override
        public void acknowledgement(int type, int packetIdentifier, int reasonCode) {
            seen.add("ack " + type + " " + packetIdentifier + " " + reasonCode);
        }

        @Override
        public void subAck(int packetIdentifier, int worstReasonCode) {
            seen.add("suback " + packetIdentifier + " " + worstReasonCode);
        }

        @Override
        public void disconnect(int reasonCode) {
            seen.add("disconnect " + reasonCode);
        }

        @Override
        public void malformed(String why) {
            seen.add("malformed");
        }
    }
}
