// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** A blocking client that knows nothing of Netty: bytes on a socket, with TLS or not. */
class WireClient implements AutoCloseable {

    final Socket socket;
    final DataInputStream in;
    final OutputStream out;

    WireClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) TestListeners.PATIENCE.toMillis());
        this.in = new DataInputStream(socket.getInputStream());
        this.out = socket.getOutputStream();
    }

    static Socket socket(InetSocketAddress server, @Nullable SSLContext tls) throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress("localhost", server.getPort()), (int) TestListeners.PATIENCE.toMillis());
        if (tls == null) {
            return socket;
        }
        SSLSocket secured =
                (SSLSocket) tls.getSocketFactory().createSocket(socket, "localhost", server.getPort(), true);
        secured.setSoTimeout((int) TestListeners.PATIENCE.toMillis());
        secured.startHandshake();
        return secured;
    }

    static WireClient tcp(InetSocketAddress server) throws IOException {
        return new WireClient(socket(server, null));
    }

    static WireClient tls(InetSocketAddress server, SSLContext tls) throws IOException {
        return new WireClient(socket(server, tls));
    }

    /** Sends the bytes as MQTT's. */
    void send(byte[] bytes) throws IOException {
        sendRaw(bytes);
    }

    /** Sends the bytes as MQTT's so that they arrive in small pieces. */
    void sendBytewise(byte[] bytes) throws IOException {
        for (byte one : bytes) {
            sendRaw(new byte[] {one});
        }
    }

    /** Sends bytes so that they arrive in small pieces, and tells whether the server closes before they are through, or then. */
    boolean endsWhileSending(byte[] bytes) throws IOException {
        try {
            sendBytewise(bytes);
        } catch (SocketException closed) { // before the last byte
            return true;
        }
        return ended();
    }

    byte[] receive(int length) throws IOException {
        return in.readNBytes(length);
    }

    final void sendRaw(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    final void sendRaw(String latin1) throws IOException {
        sendRaw(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    String echo(String text) throws IOException {
        send(text.getBytes(StandardCharsets.ISO_8859_1));
        return new String(receive(text.length()), StandardCharsets.ISO_8859_1);
    }

    /** Waits for the end of the connection, of whatever kind; false if something comes first. */
    boolean ended() throws IOException {
        try {
            return in.read() < 0;
        } catch (EOFException | SocketException e) {
            return true;
        } catch (javax.net.ssl.SSLException e) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
