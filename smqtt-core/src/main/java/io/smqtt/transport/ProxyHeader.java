// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol.AddressFamily;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.spi.ConnectionRefusals;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;

/**
 * Reads the client's address from the PROXY protocol header, version 1 or 2, which is mandatory on listeners with {@code proxy-protocol}.
 * For the proxy's own connections (LOCAL, UNKNOWN) the socket's address is used. The sender was checked before.
 */
final class ProxyHeader extends ChannelInboundHandlerAdapter {

    /** The maximum size of the TLVs of version 2, so that the header has at most 536 bytes. */
    private static final int MAX_TLV_BYTES = 536 - 16 - 216;

    private static final byte[] TEXT_SIGNATURE = "PROXY ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] BINARY_SIGNATURE = "\r\n\r\n\0\r\nQUIT\n".getBytes(StandardCharsets.US_ASCII);

    private final AcceptedConnection connection;

    ProxyHeader(AcceptedConnection connection) {
        this.connection = connection;
    }

    static HAProxyMessageDecoder decoder(AcceptedConnection connection) {
        return new SignedDecoder(connection);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws UnknownHostException {
        if (!ctx.channel().isActive()) {
            ReferenceCountUtil.release(message); // refused: drops the bytes after the header
            return;
        }
        if (!(message instanceof HAProxyMessage header)) {
            ctx.fireChannelRead(message);
            return;
        }
        InetSocketAddress client;
        try {
            client = source(header);
        } finally {
            header.release();
        }
        connection.foreign(); // also if proxy and client are on this machine
        if (connection.enterFrom(client)) {
            ctx.fireUserEventTriggered(Readiness.Stage.PROXY);
            ctx.pipeline().remove(this);
        }
    }

    private InetSocketAddress source(HAProxyMessage header) throws UnknownHostException {
        AddressFamily family = header.proxiedProtocol().addressFamily();
        if (header.command() == HAProxyCommand.LOCAL
                || family != AddressFamily.AF_IPv4 && family != AddressFamily.AF_IPv6) {
            return connection.remoteAddress();
        }
        byte[] address = NetUtil.createByteArrayFromIpAddressString(header.sourceAddress());
        return new InetSocketAddress(InetAddress.getByAddress(address), header.sourcePort());
    }

    /**
     * Closes the connection at the first byte that cannot belong to a header of either version. The decoder would wait for more bytes,
     * which a client on the wrong port does not send.
     */
    private static final class SignedDecoder extends HAProxyMessageDecoder {

        private byte[] signature = TEXT_SIGNATURE;
        private int matched;

        private final AcceptedConnection connection;

        SignedDecoder(AcceptedConnection connection) {
            super(MAX_TLV_BYTES);
            this.connection = connection;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            if (message instanceof ByteBuf bytes && !canBegin(bytes)) {
                bytes.release();
                connection.refused(ConnectionRefusals.PROXY_HEADER, "the connection does not begin with one");
                ctx.close();
            } else {
                super.channelRead(ctx, message);
            }
        }

        private boolean canBegin(ByteBuf bytes) {
            for (int i = bytes.readerIndex(); i < bytes.writerIndex() && matched < signature.length; i++) {
                byte next = bytes.getByte(i);
                if (matched == 0 && next == BINARY_SIGNATURE[0]) {
                    signature = BINARY_SIGNATURE;
                }
                if (next != signature[matched]) {
                    return false;
                }
                matched++;
            }
            return true;
        }
    }
}
