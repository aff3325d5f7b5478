// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.smqtt.cluster.jgroups.SharedSecret;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two ends of a sealed connection. */
class SealedChannelTest {

    private final List<EmbeddedChannel> channels = new ArrayList<>();

    private static SharedSecret secret(String text) {
        try {
            return new SharedSecret(text);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    @ChannelHandler.Sharable
    private static final class Events extends ChannelInboundHandlerAdapter {
        private boolean secured;
        private String failure = "";

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            secured |= RelaySecurity.isSecured(event);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            failure = String.valueOf(cause.getMessage());
        }
    }

    private final Events accepting = new Events();
    private final Events dialling = new Events();

    private EmbeddedChannel end(String secret, boolean dials) {
        EmbeddedChannel channel =
                new EmbeddedChannel(new SealedChannel(secret(secret), dials, false), dials ? dialling : accepting);
        channels.add(channel);
        return channel;
    }

    @AfterEach
    void close() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    /** Carries what each end has written to the other one, in pieces of a size. */
    private static void carry(EmbeddedChannel one, EmbeddedChannel other, int piece) {
        boolean moved = true;
        while (moved) {
            moved = pass(one, other, piece) | pass(other, one, piece);
        }
    }

    private static boolean pass(EmbeddedChannel from, EmbeddedChannel to, int piece) {
        boolean moved = false;
        for (ByteBuf bytes = from.readOutbound(); bytes != null; bytes = from.readOutbound()) {
            while (bytes.isReadable()) {
                int count = Math.min(piece, bytes.readableBytes());
                to.writeInbound(Unpooled.copiedBuffer(bytes.readSlice(count)));
                moved = true;
            }
            bytes.release();
        }
        return moved;
    }

    private static String received(EmbeddedChannel channel) {
        StringBuilder all = new StringBuilder();
        for (ByteBuf bytes = channel.readInbound(); bytes != null; bytes = channel.readInbound()) {
            all.append(bytes.toString(StandardCharsets.UTF_8));
            bytes.release();
        }
        return all.toString();
    }

    @Test
    void bytesPassInBothDirectionsHoweverTheyAreCut() {
        for (int piece : new int[] {1, 7, 100_000}) {
            EmbeddedChannel acceptor = end("a-secret-of-nodes", false);
            EmbeddedChannel dialler = end("a-secret-of-nodes", true);
            carry(acceptor, dialler, piece);
            assertThat(accepting.secured && dialling.secured).isTrue();
            String large = "abcdefgh".repeat(20_000);

            dialler.writeOutbound(Unpooled.copiedBuffer("hello", StandardCharsets.UTF_8));
            acceptor.writeOutbound(Unpooled.copiedBuffer(large, StandardCharsets.UTF_8));
            dialler.writeOutbound(Unpooled.copiedBuffer(", again", StandardCharsets.UTF_8));
            carry(acceptor, dialler, piece);

            assertThat(received(acceptor)).isEqualTo("hello, again");
            assertThat(received(dialler)).isEqualTo(large);
        }
    }

    @Test
    void nothingOfWhatIsSentIsReadableOnTheWay() {
        EmbeddedChannel acceptor = end("a-secret-of-nodes", false);
        EmbeddedChannel dialler = end("a-secret-of-nodes", true);
        carry(acceptor, dialler, 1_000);

        dialler.writeOutbound(Unpooled.copiedBuffer("the-password", StandardCharsets.UTF_8));
        ByteBuf onTheWay = dialler.readOutbound();

        assertThat(onTheWay.toString(StandardCharsets.ISO_8859_1)).doesNotContain("password");
        onTheWay.release();
    }

    @Test
    void anotherSecretIsRefusedByBothEnds() {
        EmbeddedChannel acceptor = end("a-secret-of-nodes", false);
        EmbeddedChannel dialler = end("another-secret-of-nodes", true);

        carry(acceptor, dialler, 1_000);

        assertThat(accepting.secured || dialling.secured).isFalse();
        assertThat(accepting.failure).isEqualTo("different cluster.secret");
        assertThat(dialling.failure).isEqualTo("different cluster.secret");
        assertThat(acceptor.isOpen() || dialler.isOpen()).isFalse();
    }

    @Test
    void aChangedRecordEndsTheConnection() {
        EmbeddedChannel acceptor = end("a-secret-of-nodes", false);
        EmbeddedChannel dialler = end("a-secret-of-nodes", true);
        carry(acceptor, dialler, 1_000);
        dialler.writeOutbound(Unpooled.copiedBuffer("hello", StandardCharsets.UTF_8));
        ByteBuf record = dialler.readOutbound();
        record.setByte(6, record.getByte(6) ^ 1);

        acceptor.writeInbound(record);

        assertThat(accepting.failure).isEqualTo("a record was changed");
        assertThat(acceptor.isOpen()).isFalse();
        assertThat(received(acceptor)).isEmpty();
    }

    @Test
    void aRepeatedRecordEndsTheConnection() {
        EmbeddedChannel acceptor = end("a-secret-of-nodes", false);
        EmbeddedChannel dialler = end("a-secret-of-nodes", true);
        carry(acceptor, dialler, 1_000);
        dialler.writeOutbound(Unpooled.copiedBuffer("hello", StandardCharsets.UTF_8));
        ByteBuf record = dialler.readOutbound();

        acceptor.writeInbound(record.copy());
        acceptor.writeInbound(record);

        assertThat(received(acceptor)).isEqualTo("hello");
        assertThat(accepting.failure).isEqualTo("a record was changed");
    }

    @Test
    void aRecordOfAnyLengthIsNotBuffered() {
        EmbeddedChannel acceptor = end("a-secret-of-nodes", false);
        EmbeddedChannel dialler = end("a-secret-of-nodes", true);
        carry(acceptor, dialler, 1_000);

        acceptor.writeInbound(Unpooled.buffer().writeInt(1 << 20));

        assertThat(accepting.failure).isEqualTo("a record of 1048576 bytes");
        assertThat(acceptor.isOpen()).isFalse();
    }
}
