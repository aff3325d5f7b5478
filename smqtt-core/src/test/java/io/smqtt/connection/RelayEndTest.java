// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Both ends of a relayed connection, on embedded channels. */
class RelayEndTest {

    private static final long SLOW_MILLIS = 10_000;

    private final ConnectionBench.Wire clientWire = new ConnectionBench.Wire();
    private final ConnectionBench.Wire nodeWire = new ConnectionBench.Wire();
    private final EmbeddedChannel client = new EmbeddedChannel(clientWire);
    private final EmbeddedChannel node = new EmbeddedChannel(nodeWire);
    private final List<String> events = new ArrayList<>();

    @BeforeEach
    void connect() {
        client.config().setAutoRead(false);
        node.config().setAutoRead(false);
        client.pipeline().addLast(RelayEnd.ofClient(node, () -> events.add("closed")));
        client.freezeTime(); // otherwise the time of the machine passes, too
        node.freezeTime();
        node.pipeline()
                .addLast(RelayEnd.ofNode(
                        client, false, SLOW_MILLIS, () -> events.add("answered"), () -> events.add("too slow")));
    }

    @AfterEach
    void close() {
        client.finishAndReleaseAll();
        node.finishAndReleaseAll();
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    private static String written(EmbeddedChannel channel) {
        StringBuilder all = new StringBuilder();
        for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
            all.append(next.toString(StandardCharsets.UTF_8));
            next.release();
        }
        return all.toString();
    }

    private static void writable(EmbeddedChannel channel, boolean writable) {
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, writable);
        channel.runPendingTasks();
    }

    @Test
    void bytesPassInTheBufferInWhichTheyWereRead() {
        ByteBuf sent = bytes("from the client");
        client.writeInbound(sent);
        node.writeInbound(bytes("from the "), bytes("node"));

        ByteBuf passed = node.readOutbound();
        assertThat(passed).isSameAs(sent);
        passed.release();
        assertThat(written(client)).isEqualTo("from the node");
        assertThat(events).containsExactly("answered");
    }

    @Test
    void aNodeThatTakesNothingStopsTheReadsOfItsClientOnly() {
        node.writeInbound(bytes("first"));
        writable(node, false);
        int before = clientWire.reads;

        client.writeInbound(bytes("one"));

        assertThat(clientWire.reads).isEqualTo(before);
        int nodeReads = nodeWire.reads;
        node.writeInbound(bytes("answer"));
        assertThat(nodeWire.reads).isEqualTo(nodeReads + 1);

        writable(node, true);

        assertThat(clientWire.reads).isEqualTo(before + 1);
        assertThat(written(node)).isEqualTo("one");
    }

    @Test
    void aClientThatTakesNothingStopsTheReadsOfItsNode() {
        writable(client, false);
        int before = nodeWire.reads;

        node.writeInbound(bytes("one"));
        assertThat(nodeWire.reads).isEqualTo(before);
        writable(client, true);

        assertThat(nodeWire.reads).isEqualTo(before + 1);
        node.advanceTimeBy(SLOW_MILLIS, TimeUnit.MILLISECONDS);
        client.advanceTimeBy(SLOW_MILLIS, TimeUnit.MILLISECONDS);
        client.runScheduledPendingTasks();
        assertThat(client.isOpen()).isTrue();
    }

    @Test
    void aClientThatTakesNothingForTooLongIsClosed() {
        writable(client, false);
        node.writeInbound(bytes("one"));

        client.advanceTimeBy(SLOW_MILLIS + 1, TimeUnit.MILLISECONDS);
        client.runScheduledPendingTasks();

        assertThat(client.isOpen()).isFalse();
        assertThat(node.isOpen()).isFalse();
        assertThat(events).containsExactly("answered", "too slow", "closed");
    }

    @Test
    void aClientThatTakesSomethingInTimeStaysHoweverOftenItWaits() {
        for (int i = 0; i < 5; i++) {
            writable(client, false);
            node.writeInbound(bytes("one"));
            client.advanceTimeBy(SLOW_MILLIS - 1, TimeUnit.MILLISECONDS);
            client.runScheduledPendingTasks();
            writable(client, true);
        }
        client.advanceTimeBy(SLOW_MILLIS, TimeUnit.MILLISECONDS);
        client.runScheduledPendingTasks();

        assertThat(client.isOpen()).isTrue();
        assertThat(events).containsExactly("answered");
    }

    @Test
    void aNodeThatTakesNothingOfAClientThatHasGoneIsLeft() {
        nodeWire.stuck = true;
        node.writeInbound(bytes("answer"));
        client.writeInbound(bytes("last"));
        int reads = nodeWire.reads;

        client.close();

        assertThat(node.isOpen()).isTrue();
        assertThat(nodeWire.reads).isEqualTo(reads + 1);
        ByteBuf late = bytes("late");
        node.writeInbound(late);
        assertThat(late.refCnt()).isZero();
        node.advanceTimeBy(10_001, TimeUnit.MILLISECONDS);
        node.runScheduledPendingTasks();
        assertThat(node.isOpen()).isFalse();
    }

    @Test
    void theClientIsNotReadBeforeTheNodeHasAnswered() {
        int before = clientWire.reads;
        writable(node, false);
        writable(node, true);
        assertThat(clientWire.reads).isEqualTo(before);

        node.writeInbound(Unpooled.wrappedBuffer(new byte[] {(byte) 0xF0, 0}));

        assertThat(clientWire.reads).isEqualTo(before + 1);
        assertThat(events).isEmpty(); // an AUTH is no acceptance
        node.writeInbound(Unpooled.wrappedBuffer(new byte[] {0x20, 3, 0, (byte) 0x87, 0}));
        assertThat(events).isEmpty();
        node.writeInbound(Unpooled.wrappedBuffer(new byte[] {0x20, (byte) 0x80, 1, 1, 0, 0}));
        assertThat(events).containsExactly("answered");
    }

    @Test
    void theEndOfTheClientEndsTheNodesSideBehindTheLastByte() {
        client.writeInbound(bytes("last"));

        client.close();

        assertThat(written(node)).isEqualTo("last");
        assertThat(node.isOpen()).isFalse();
        assertThat(events).containsExactly("closed");
    }

    @Test
    void theEndOfTheNodeEndsTheClientsSideBehindTheLastByte() {
        node.writeInbound(bytes("DISCONNECT"));

        node.close();

        assertThat(written(client)).isEqualTo("DISCONNECT");
        assertThat(client.isOpen()).isFalse();
        assertThat(events).containsExactly("answered", "closed");
    }

    @Test
    void aFailureOfOneSideEndsBoth() {
        node.pipeline().fireExceptionCaught(new IllegalStateException("on purpose"));

        assertThat(node.isOpen()).isFalse();
        assertThat(client.isOpen()).isFalse();
    }

    @Test
    void whatArrivesAfterTheEndIsReleased() {
        ByteBuf late = bytes("late");
        EmbeddedChannel gone = new EmbeddedChannel();
        gone.close();
        EmbeddedChannel last = new EmbeddedChannel(RelayEnd.ofClient(gone, () -> {}));

        last.writeInbound(late);

        assertThat(late.refCnt()).isZero();
        last.finishAndReleaseAll();
    }
}
