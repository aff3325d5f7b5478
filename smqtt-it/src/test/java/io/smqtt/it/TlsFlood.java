// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/**
 * A program that opens connections to a TLS listener at a steady rate, sends the same ClientHello in each, and closes it after the first bytes of the
 * answer, or after half a second. So a handshake costs the server nearly all that it can, and the client nearly nothing. It runs as
 * {@link LoadProcess}. All state belongs to its one event loop.
 */
final class TlsFlood {

    /** Places of the figures: connections that were begun, answered by TLS, closed by the server, and given up. */
    static final int BEGUN = 0;

    static final int ANSWERED = 1;
    static final int REFUSED = 2;
    static final int GIVEN_UP = 3;

    private static final int SOURCES = 16;
    private static final long TICK_MILLIS = 2;
    private static final int PATIENCE_MILLIS = 500;

    /** Connections at once at most; beyond it the program is slower than its rate. */
    private static final int OPEN_AT_MOST = 6_000;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final ByteBuf hello = Unpooled.unreleasableBuffer(Unpooled.directBuffer());
    private final int port;
    private final int perSecond;
    private long beganNanos;
    private int open;
    private long begun;
    private long answered;
    private long refused;
    private long givenUp;

    private TlsFlood(int port, int perSecond) {
        this.port = port;
        this.perSecond = perSecond;
    }

    /** Takes the port and the connections per second. */
    public static void main(String[] arguments) throws IOException, GeneralSecurityException {
        TlsFlood flood = new TlsFlood(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
        flood.hello.writeBytes(clientHello());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println(LoadProcess.READY);
        input.readLine();
        flood.begin();
        input.readLine();
        System.exit(0);
    }

    /** The first message of a client that knows TLS 1.3 and 1.2. */
    private static ByteBuffer clientHello() throws GeneralSecurityException, IOException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, null, null);
        SSLEngine engine = context.createSSLEngine("localhost", 0);
        engine.setUseClientMode(true);
        engine.beginHandshake();
        ByteBuffer bytes = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), bytes);
        return bytes.flip();
    }

    private void begin() {
        beganNanos = System.nanoTime();
        loops.scheduleAtFixedRate(this::open, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
        loops.scheduleAtFixedRate(
                () -> LoadProcess.tell(begun, answered, refused, givenUp), 0, 100, TimeUnit.MILLISECONDS);
    }

    private void open() {
        long due = Math.min((System.nanoTime() - beganNanos) / 1_000 * perSecond / 1_000_000, begun + perSecond / 10);
        while (begun < due && open < OPEN_AT_MOST) {
            begun++;
            open++;
            new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .option(ChannelOption.SO_LINGER, 0) // a port is free again at once
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, PATIENCE_MILLIS)
                    .handler(new Handshake())
                    .connect(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                            new InetSocketAddress("127.0.0." + (2 + begun % SOURCES), 0))
                    .addListener(done -> {
                        if (!done.isSuccess()) {
                            open--;
                            givenUp++;
                        }
                    });
        }
    }

    private final class Handshake extends ChannelInboundHandlerAdapter {

        private boolean decided;

        @Override
        public void channelActive(ChannelHandlerContext context) {
            Channel channel = context.channel();
            context.writeAndFlush(hello.duplicate());
            channel.eventLoop().schedule(() -> giveUp(channel), PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }

        private void giveUp(Channel channel) {
            if (!decided) {
                decided = true;
                givenUp++;
                channel.close();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ((ByteBuf) message).release();
            if (!decided) {
                decided = true;
                answered++;
                context.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            open--;
            if (!decided) {
                decided = true;
                refused++;
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
