// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Packets that the rate of a bridge holds back. */
class PacedOutputTest {

    private static final int MOST_BYTES = 1_000;

    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext context = channel.pipeline().lastContext();
    private final BridgeCounts counts = new BridgeCounts();
    private final List<String> events = new ArrayList<>();
    private final ByteBuf out = Unpooled.buffer();
    private final ByteBuf answers = Unpooled.buffer();

    @AfterEach
    void close() {
        out.release();
        answers.release();
        channel.finishAndReleaseAll();
    }

    private final PacedOutput.Passage passage = new PacedOutput.Passage() {
        @Override
        public void leaving(ByteBuf packet, ByteBuf passed, ByteBuf ours) {
            int at = Packets.expiryAt(packet);
            events.add(at < 0 ? "passed" : "passed " + packet.getUnsignedInt(at));
            passed.writeByte(0);
        }

        @Override
        public void drop(ByteBuf packet, DropCause cause) {
            events.add("dropped " + cause);
        }

        @Override
        public boolean expired(ByteBuf packet, ByteBuf ours) {
            boolean mayExpire = !Packets.isRepeated(packet);
            events.add(mayExpire ? "expired" : "stays");
            return mayExpire;
        }

        @Override
        public void withheld(ByteBuf packet) {
            events.add("withheld");
        }
    };

    private void leave(PacedOutput paced, PublishBytes message) {
        ByteBuf packet = Unpooled.wrappedBuffer(message.toBytes(ProtocolVersion.MQTT_5));
        paced.leaving(context, passage, packet);
        packet.release();
    }

    private static PublishBytes message(int qos, int bytes) {
        return PublishBytes.to("a").payload(new byte[bytes]).qos(qos, qos == 0 ? 0 : 1);
    }

    private void drain(PacedOutput paced) {
        paced.drainTo(context, out, answers);
    }

    @Test
    void messagesOfQos0HaveALimitInBytes() {
        PacedOutput paced = new PacedOutput(100, MOST_BYTES, counts);
        leave(paced, message(1, 5 * MOST_BYTES)); // the session has a limit for these
        leave(paced, message(0, MOST_BYTES));
        leave(paced, message(0, 1));
        leave(paced, message(1, 1));
        assertThat(events).containsExactly("dropped RATE");
        drain(paced);
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            drain(paced);
            return events.size() == 4;
        });
        leave(paced, message(0, MOST_BYTES)); // there is room again
        assertThat(events).containsExactly("dropped RATE", "passed", "passed", "passed");
        paced.clear();
        assertThat(events).endsWith("withheld");
        assertThat(counts.waiting()).isZero();
    }

    /** One packet a second leaves, so the last one has waited for a second at least. */
    @ParameterizedTest
    @CsvSource({"1, false, expired", "100, false, passed 99", "1, true, stays"})
    void theTimeThatAMessageIsHeldBackCountsForItsExpiry(int seconds, boolean repeated, String event) {
        PacedOutput paced = new PacedOutput(1, MOST_BYTES, counts);
        leave(paced, message(1, 1));
        drain(paced);
        PublishBytes second = message(2, 1);
        second.properties().user("a", "b").contentType("c").messageExpiry(seconds);
        leave(paced, repeated ? second.dup() : second);
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            drain(paced);
            return events.size() > 1;
        });
        assertThat(events.get(1)).isEqualTo(event);
        assertThat(events.size()).isEqualTo(repeated ? 3 : 2);
        assertThat(counts.waiting()).isZero();
    }
}
