// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.publish;
import static io.smqtt.connection.ConnectionBench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.PayloadMemory;
import io.smqtt.message.PayloadReader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Packets longer than a read: the socket is read behind their begin. The client publishes to itself. */
class BegunPacketsTest {

    private static final int MEBIBYTE = 1 << 20;

    private final ConnectionBench bench = new ConnectionBench();
    private final Set<ByteBuf> used = Collections.newSetFromMap(new IdentityHashMap<>());
    private ByteBuf stream = Unpooled.EMPTY_BUFFER;
    private int appended;

    @BeforeEach
    void open() {
        bench.payloads = new PayloadMemory(16 * MEBIBYTE);
        bench.config = BrokerConfig.builder()
                .limits(LimitsConfig.builder()
                        .maxPacketBytes(8 * MEBIBYTE)
                        .maxQueuedBytes(16 * MEBIBYTE)
                        .build())
                .build();
        bench.open().connected();
        bench.send(subscribe("t", 1, 1));
        bench.received();
    }

    @AfterEach
    void close() {
        bench.close();
        assertThat(bench.payloads.bytes()).isZero();
        assertThat(used).allSatisfy(buffer -> assertThat(buffer.refCnt()).isZero());
    }

    /** Reads once, as the transport does: behind the begin of a packet, or into a buffer of the asked size. Returns the number of bytes. */
    private int read(int available) {
        return read(available, Integer.MAX_VALUE);
    }

    private int read(int available, int capacity) {
        ReadPlan plan = Objects.requireNonNull(bench.reads);
        ByteBuf begun = plan.begun();
        int largest = Math.min(capacity, plan.largestRead());
        ByteBuf target = begun == null ? PooledByteBufAllocator.DEFAULT.directBuffer(largest) : begun.retain();
        appended += begun == null ? 0 : 1;
        used.add(target);
        int count = Math.min(Math.min(available, stream.readableBytes()), target.writableBytes());
        target.writeBytes(stream, count);
        bench.channel.writeInbound(target);
        bench.channel.runPendingTasks();
        return count;
    }

    private static String text(char letter, int size) {
        return String.valueOf(letter).repeat(size);
    }

    @ParameterizedTest
    @CsvSource({"300000, 1000", "300000, 5000", "300000, 65536", "1000000, 70000", "65536, 65536", "5000000, 524288"})
    void packetsOfAnySizeArriveInPieces(int size, int piece) {
        stream = bench.encode(
                publish("t", text('a', size), 1, 1), publish("t", text('b', size), 1, 2), publish("t", "end", 1, 3));
        while (stream.isReadable()) {
            read(piece);
        }
        assertThat(bench.answers())
                .containsExactly(
                        "PUBLISH t " + text('a', size),
                        "PUBACK 1 0",
                        "PUBLISH t " + text('b', size),
                        "PUBACK 2 0",
                        "PUBLISH t end",
                        "PUBACK 3 0");
    }

    /** The first read ends inside the first packet, and inside the second one. */
    @ParameterizedTest
    @ValueSource(
            ints = {
                1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 4_095, 8_192, 30_000, 65_535, 90_004, 90_008, 90_013, 90_014, 95_000,
                180_020
            })
    void packetsMayBeCutAnywhere(int at) {
        stream = bench.encode(publish("t", text('a', 90_000), 1, 1), publish("t", text('b', 90_000), 1, 2));
        for (int left = at; left > 0; ) {
            left -= read(left);
        }
        while (stream.isReadable()) {
            read(Integer.MAX_VALUE);
        }
        assertThat(bench.answers())
                .containsExactly(
                        "PUBLISH t " + text('a', 90_000), "PUBACK 1 0", "PUBLISH t " + text('b', 90_000), "PUBACK 2 0");
    }

    /** Packets of all sizes, cut and gathered in all ways, some of them acknowledged late. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void randomPacketsAndReads(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<String> expected = new ArrayList<>();
        List<MqttMessage> packets = new ArrayList<>();
        for (int i = 1; i <= 60; i++) {
            String text = text((char) ('a' + i % 26), random.nextInt(1 << 4 + random.nextInt(14)));
            int qos = random.nextInt(2);
            packets.add(publish("t", text, qos, qos == 0 ? 0 : i));
            expected.add("PUBLISH t " + text);
            if (qos == 1) {
                expected.add("PUBACK " + i + " 0");
            }
        }
        stream = bench.encode(packets.toArray(MqttMessage[]::new));
        List<String> answers = new ArrayList<>();
        while (stream.isReadable()) {
            read(random.nextInt(1 << 2 + random.nextInt(18)), 64 << random.nextInt(14));
            if (random.nextBoolean()) {
                answers.addAll(bench.answers());
            }
        }
        answers.addAll(bench.answers());
        assertThat(answers).isEqualTo(expected);
    }

    @Test
    void thePayloadIsUsedWhereItWasRead() {
        stream = bench.encode(publish("t", text('a', 600_000), 1, 1));
        while (stream.isReadable()) {
            read(Integer.MAX_VALUE);
        }
        assertThat(bench.answers()).containsExactly("PUBLISH t " + text('a', 600_000), "PUBACK 1 0");
        assertThat(bench.payloads.bytes()).isBetween(600_000L, 656_000L); // a buffer of the length of the packet
        assertThat(appended).isPositive();
    }

    @Test
    void readsAreLargeWhileLargePayloadsArriveAndMemoryIsThere() {
        assertThat(largestRead("t", 5_000, 1)).isEqualTo(PayloadReader.LARGEST_READ_BYTES);
        assertThat(largestRead("t", 100, 2)).isEqualTo(PayloadReader.USUAL_READ_BYTES);
        for (int i = 3; i < 7; i++) { // are not acknowledged
            largestRead("t", 3 * MEBIBYTE, i);
        }
        assertThat(bench.payloads.bytes()).isGreaterThan(8 * MEBIBYTE);
        assertThat(largestRead("t", 5_000, 7)).isEqualTo(PayloadReader.USUAL_READ_BYTES);
        bench.answers();
    }

    private int largestRead(String topic, int size, int packetId) {
        stream = bench.encode(publish(topic, text('a', size), 1, packetId));
        while (stream.isReadable()) {
            read(Integer.MAX_VALUE);
        }
        return Objects.requireNonNull(bench.reads).largestRead();
    }

    /** 8 MiB are announced; memory is used for what has arrived. */
    @Test
    void anAnnouncementReservesNoMemory() {
        stream = bench.encode(publish("t", text('a', 8 * MEBIBYTE - 100), 0, 0));
        int arrived = 0;
        for (int piece : new int[] {1, 1, 1, 1, 1, 5, 50, 1_000, 5_000, 50_000, 100_000, 500_000, 500_000}) {
            arrived += read(piece);
            ByteBuf begun = Objects.requireNonNull(bench.reads).begun();
            if (begun != null) {
                assertThat(begun.capacity()).isLessThanOrEqualTo(4 * arrived);
            }
        }
        assertThat(Objects.requireNonNull(bench.reads).begun()).isNotNull();
    }

    /** Many small reads: the begin moves when its buffer is full, and not with each read. */
    @Test
    void theBeginIsMovedSeldom() {
        stream = bench.encode(publish("t", text('a', 4 * MEBIBYTE), 0, 0));
        int capacity = 0;
        List<Integer> moves = new ArrayList<>();
        for (int i = 0; i < 900; i++) { // not a quarter
            read(1_000);
            ByteBuf begun = Objects.requireNonNull(bench.reads).begun();
            if (begun != null && begun.capacity() != capacity) {
                capacity = begun.capacity();
                moves.add(capacity);
            }
        }
        assertThat(moves).hasSizeLessThan(15);
    }

    @Test
    void aReadOfNothingChangesNothing() {
        stream = bench.encode(publish("t", text('a', 90_000), 1, 1));
        read(50_000);
        read(0);
        while (stream.isReadable()) {
            read(Integer.MAX_VALUE);
        }
        assertThat(bench.answers()).containsExactly("PUBLISH t " + text('a', 90_000), "PUBACK 1 0");
    }

    @Test
    void aPacketAboveTheLimitIsRefusedFromItsHeader() {
        stream = Unpooled.wrappedBuffer(new byte[] {0x30, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, 0x7F}); // 256 MiB
        read(4);
        read(1);
        assertThat(bench.answers()).containsExactly("DISCONNECT 95");
        assertThat(Objects.requireNonNull(bench.reads).begun()).isNull();
    }

    /** The client goes while half of a packet has arrived. */
    @Test
    void theBeginIsReleasedWithTheConnection() {
        stream = bench.encode(publish("t", text('a', 90_000), 1, 1));
        read(50_000);
        bench.channel.close();
        bench.channel.runPendingTasks();
        assertThat(used).allSatisfy(buffer -> assertThat(buffer.refCnt()).isZero());
        assertThat(Objects.requireNonNull(bench.reads).begun()).isNull();
    }
}
