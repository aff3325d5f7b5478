// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A program with many clients that connect until they are accepted, and again when their connection ends. It begins with the first line of its
 * standard input, closes all connections and opens them again at once with each further one, tells its figures ten times a second, and ends with
 * its input. All state belongs to its one event loop.
 */
final class StormClients {

    /** Places of the figures: attempts, attempts that found no port or listener, and clients that are connected. */
    static final int ATTEMPTS = 0;

    static final int UNREACHABLE = 1;
    static final int CONNECTED = 2;

    /** Each address has about 28,000 ports, and those of refused connections are not free again for a minute. */
    private static final int SOURCES = 16;

    private static final int CONNECT_FLAGS = 0xC2;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Map<Integer, Channel> connected = new HashMap<>();
    private final int port;
    private final long retryMillis;
    private long attempts;
    private long unreachable;

    private StormClients(int port, long retryMillis) {
        this.port = port;
        this.retryMillis = retryMillis;
    }

    /** Takes the port, the number of the first client, how many there are, and the milliseconds until they try again. */
    public static void main(String[] arguments) throws IOException {
        StormClients clients = new StormClients(Integer.parseInt(arguments[0]), Long.parseLong(arguments[3]));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println(LoadProcess.READY);
        input.readLine();
        int first = Integer.parseInt(arguments[1]);
        clients.begin(first, first + Integer.parseInt(arguments[2]));
        while (input.readLine() != null) {
            clients.reconnect();
        }
        System.exit(0);
    }

    private void begin(int from, int to) {
        loops.execute(() -> {
            for (int i = from; i < to; i++) {
                connect(i);
            }
        });
        loops.scheduleAtFixedRate(
                () -> LoadProcess.tell(attempts, unreachable, connected.size()), 0, 100, TimeUnit.MILLISECONDS);
    }

    private void reconnect() {
        loops.execute(() -> {
            Map<Integer, Channel> open = new HashMap<>(connected);
            connected.clear();
            open.values().forEach(Channel::close);
            open.keySet().forEach(this::connect);
        });
    }

    private void connect(int number) {
        attempts++;
        new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new Client(number))
                .connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                        new InetSocketAddress("127.0.0." + (2 + number % SOURCES), 0))
                .addListener(done -> {
                    if (!done.isSuccess()) {
                        unreachable++;
                        again(number);
                    }
                });
    }

    private void again(int number) {
        loops.schedule(() -> connect(number), retryMillis, TimeUnit.MILLISECONDS);
    }

    /** CONNECT of MQTT 3.1.1 for a client whose user name and password are its name. */
    static byte[] connectPacket(String name) {
        byte[] id = name.getBytes(StandardCharsets.US_ASCII);
        ByteBuf packet = Unpooled.buffer();
        packet.writeByte(0x10).writeByte(10 + 3 * (2 + id.length));
        packet.writeShort(4).writeBytes("MQTT".getBytes(StandardCharsets.US_ASCII));
        packet.writeByte(4).writeByte(CONNECT_FLAGS).writeShort(0);
        for (int i = 0; i < 3; i++) {
            packet.writeShort(id.length).writeBytes(id);
        }
        byte[] bytes = new byte[packet.readableBytes()];
        packet.readBytes(bytes);
        packet.release();
        return bytes;
    }

    private final class Client extends ChannelInboundHandlerAdapter {

        private final int number;
        private boolean accepted;

        Client(int number) {
            this.number = number;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.wrappedBuffer(connectPacket("storm" + number)));
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            accepted = bytes.readableBytes() >= 4 && bytes.getByte(3) == 0;
            bytes.release();
            if (accepted) {
                connected.put(number, context.channel());
            } else {
                context.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            boolean isReplaced = accepted && !connected.remove(number, context.channel());
            if (!isReplaced) {
                again(number);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
