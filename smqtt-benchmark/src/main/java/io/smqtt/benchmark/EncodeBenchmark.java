// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.smqtt.codec.PacketEncoder;
import io.smqtt.codec.PublishEncoder;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Cost of encoding one packet into a connection's direct buffer. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class EncodeBenchmark {

    private final PublishEncoder encoder = new PublishEncoder();
    private final ByteBuf out = PooledByteBufAllocator.DEFAULT.directBuffer(1_024);
    private final ApplicationMessage[] plain = {Messages.PLAIN, Messages.message(PublishProperties.EMPTY)};
    private final ApplicationMessage[] rich = {
        Messages.WITH_PROPERTIES, Messages.message(Messages.WITH_PROPERTIES.properties())
    };
    private int packetId;

    /** JMH creates the state. */
    public EncodeBenchmark() {}

    private int publish(ProtocolVersion version, ApplicationMessage message) {
        out.clear();
        packetId = packetId + 1 & 0x7FFF;
        Messages.encode(encoder, out, version, message, QoS.AT_LEAST_ONCE, packetId + 1);
        return out.writerIndex();
    }

    /**
     * A message that is encoded for the first time, MQTT 3.1.1.
     *
     * @return bytes
     */
    @Benchmark
    public int publishFirst() {
        return publish(ProtocolVersion.MQTT_3_1_1, plain[packetId & 1]);
    }

    /**
     * A message that was encoded for another subscriber just before, MQTT 3.1.1.
     *
     * @return bytes
     */
    @Benchmark
    public int publishAgain() {
        return publish(ProtocolVersion.MQTT_3_1_1, plain[0]);
    }

    /**
     * A message with properties that is encoded for the first time, MQTT 5.0.
     *
     * @return bytes
     */
    @Benchmark
    public int publishWithPropertiesFirst() {
        return publish(ProtocolVersion.MQTT_5, rich[packetId & 1]);
    }

    /**
     * A message with properties that was encoded for another subscriber just before, MQTT 5.0.
     *
     * @return bytes
     */
    @Benchmark
    public int publishWithPropertiesAgain() {
        return publish(ProtocolVersion.MQTT_5, rich[0]);
    }

    /**
     * A PUBACK, MQTT 5.0.
     *
     * @return bytes
     */
    @Benchmark
    public int pubAck() {
        out.clear();
        PacketEncoder.pubAck(
                out, ProtocolVersion.MQTT_5, 4_711, ReasonCode.SUCCESS, null, PacketEncoder.MAXIMUM_PACKET_BYTES);
        return out.writerIndex();
    }

    /**
     * A PUBREC with a reason code, MQTT 5.0.
     *
     * @return bytes
     */
    @Benchmark
    public int pubRecWithReason() {
        out.clear();
        PacketEncoder.pubRec(
                out,
                ProtocolVersion.MQTT_5,
                4_711,
                ReasonCode.NO_MATCHING_SUBSCRIBERS,
                null,
                PacketEncoder.MAXIMUM_PACKET_BYTES);
        return out.writerIndex();
    }

    /** Gives the buffer back. */
    @TearDown
    public void release() {
        out.release();
    }
}
