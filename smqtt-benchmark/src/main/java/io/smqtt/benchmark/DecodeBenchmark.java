// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.smqtt.codec.DecoderLimits;
import io.smqtt.codec.PacketDecoder;
import io.smqtt.codec.PacketEncoder;
import io.smqtt.codec.PublishEncoder;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of decoding one packet from a direct buffer, as it comes from a socket. The payload is looked at, not copied: the
 * broker copies it once, when it makes the message.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class DecodeBenchmark {

    private static final int BATCH = 32;
    private static final int MAXIMUM_PACKET_BYTES = 1_048_576;

    private final PacketDecoder decoder = new PacketDecoder(new DecoderLimits(65_536, 100, 4_096, 128, 1_000));
    private final CountingHandler handler = new CountingHandler();
    private final ByteBuf publish0 = publish(ProtocolVersion.MQTT_3_1_1, QoS.AT_MOST_ONCE, 1);
    private final ByteBuf publish1 = publish(ProtocolVersion.MQTT_3_1_1, QoS.AT_LEAST_ONCE, 1);
    private final ByteBuf publish0v5 = publish(ProtocolVersion.MQTT_5, QoS.AT_MOST_ONCE, 1);
    private final ByteBuf publish1v5 = publish(ProtocolVersion.MQTT_5, QoS.AT_LEAST_ONCE, 1);
    private final ByteBuf batch = publish(ProtocolVersion.MQTT_3_1_1, QoS.AT_LEAST_ONCE, BATCH);
    private final ByteBuf pubAck = pubAck();

    /** JMH creates the state. */
    public DecodeBenchmark() {}

    private static ByteBuf publish(ProtocolVersion version, QoS qos, int count) {
        ByteBuf heap = Unpooled.buffer();
        PublishEncoder encoder = new PublishEncoder();
        for (int i = 1; i <= count; i++) {
            Messages.encode(encoder, heap, version, version.isV5() ? Messages.WITH_PROPERTIES : Messages.PLAIN, qos, i);
        }
        return direct(heap);
    }

    private static ByteBuf pubAck() {
        ByteBuf heap = Unpooled.buffer();
        PacketEncoder.pubAck(heap, ProtocolVersion.MQTT_3_1_1, 7, ReasonCode.SUCCESS, null, MAXIMUM_PACKET_BYTES);
        return direct(heap);
    }

    private static ByteBuf direct(ByteBuf heap) {
        ByteBuf direct = PooledByteBufAllocator.DEFAULT
                .directBuffer(heap.readableBytes())
                .writeBytes(heap);
        heap.release();
        return direct;
    }

    private int decode(ByteBuf packets, ProtocolVersion version) {
        packets.readerIndex(0);
        while (packets.isReadable()) {
            decoder.decode(packets, version, MAXIMUM_PACKET_BYTES, handler);
        }
        return handler.seen();
    }

    /**
     * A PUBLISH of QoS 0, MQTT 3.1.1.
     *
     * @return what the handler saw
     */
    @Benchmark
    public int publishQos0() {
        return decode(publish0, ProtocolVersion.MQTT_3_1_1);
    }

    /**
     * A PUBLISH of QoS 1, MQTT 3.1.1.
     *
     * @return what the handler saw
     */
    @Benchmark
    public int publishQos1() {
        return decode(publish1, ProtocolVersion.MQTT_3_1_1);
    }

    /**
     * A PUBLISH of QoS 0 with a content type and two user properties, MQTT 5.0.
     *
     * @return what the handler saw
     */
    @Benchmark
    public int publishQos0WithProperties() {
        return decode(publish0v5, ProtocolVersion.MQTT_5);
    }

    /**
     * A PUBLISH of QoS 1 with a content type and two user properties, MQTT 5.0.
     *
     * @return what the handler saw
     */
    @Benchmark
    public int publishQos1WithProperties() {
        return decode(publish1v5, ProtocolVersion.MQTT_5);
    }

    /**
     * A PUBACK.
     *
     * @return what the handler saw
     */
    @Benchmark
    public int pubAckPacket() {
        return decode(pubAck, ProtocolVersion.MQTT_3_1_1);
    }

    /**
     * 32 PUBLISH packets of QoS 1 in one buffer; figures are per packet.
     *
     * @return what the handler saw
     */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int pipelined() {
        return decode(batch, ProtocolVersion.MQTT_3_1_1);
    }

    /** Gives the buffers back. */
    @TearDown
    public void release() {
        for (ByteBuf buffer : new ByteBuf[] {publish0, publish1, publish0v5, publish1v5, batch, pubAck}) {
            buffer.release();
        }
    }
}
