// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.smqtt.codec.PacketDecoder;
import io.smqtt.codec.ProtocolViolation;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Arbitrary bytes, with the packet table as seeds. Runs the seeds alone, unless {@code JAZZER_FUZZ=1} is set in the
 * environment: then Jazzer makes up inputs, one test method at a time.
 */
@Tag("slow")
class CodecFuzzTest {

    private static final int MAXIMUM_SEED_BYTES = 2_000;

    /** The first byte chooses the version, the others are what the client sends. */
    static Stream<Arguments> packets() {
        return PacketTable.rows().stream()
                .filter(row -> row.bytes().length <= MAXIMUM_SEED_BYTES)
                .map(row -> Arguments.of((Object) PacketBytes.fields()
                        .u8(row.version() == null ? 0 : row.version().level())
                        .bytes(row.bytes())
                        .toBytes()));
    }

    static Stream<Arguments> filters() {
        return Stream.of(
                        "a",
                        "a/b",
                        "/",
                        "+",
                        "#",
                        "a/+/b",
                        "a/#",
                        "a/#/b",
                        "a+",
                        "",
                        "$SYS/#",
                        "$share/g/a",
                        "$share",
                        "$share/",
                        "$share/g",
                        "$share/g/",
                        "$share//a",
                        "$share/+/a",
                        "$share/g/#",
                        "\u0000",
                        "a\uFFFF")
                .map(filter -> Arguments.of((Object) filter.getBytes(StandardCharsets.UTF_8)));
    }

    @MethodSource("packets")
    @FuzzTest(maxDuration = "2m")
    void decodingAnyBytesGivesAPacketOrAViolationOrAsksForMore(byte[] input) {
        if (input.length == 0) {
            return;
        }
        ProtocolVersion version = versionOf(input[0]);
        ByteBuf in = Unpooled.wrappedBuffer(input, 1, input.length - 1);
        PacketDecoder decoder = new PacketDecoder(PacketTable.LIMITS);
        RecordingHandler handler = new RecordingHandler();
        int packets = 0;
        try {
            while (decoder.decode(in, version, PacketTable.MAXIMUM_PACKET_BYTES, handler)) {
                packets++;
                version = version == null ? ProtocolVersion.MQTT_5 : version;
            }
        } catch (ProtocolViolation violation) {
            assertThat(violation.reason().isError()).isTrue();
        }
        assertThat(handler.packets).hasSize(packets);
    }

    @MethodSource("filters")
    @FuzzTest(maxDuration = "2m")
    void parsingAnyTextGivesATopicFilterOrSaysThatItIsNone(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        try {
            assertThat(TopicFilter.of(text).value()).isEqualTo(text).isNotEmpty();
        } catch (InvalidTopicException e) {
            assertThat(e).hasMessageNotContaining("\u0000");
        }
        try {
            assertThat(SharedFilter.of(text).toString()).isEqualTo(text);
            assertThat(SharedFilter.isShared(text)).isTrue();
        } catch (InvalidTopicException e) {
            assertThat(e).hasMessageNotContaining("\u0000");
        }
    }

    private static @Nullable ProtocolVersion versionOf(byte level) {
        return switch (level) {
            case 3 -> ProtocolVersion.MQTT_3_1;
            case 4 -> ProtocolVersion.MQTT_3_1_1;
            case 5 -> ProtocolVersion.MQTT_5;
            default -> null;
        };
    }
}
