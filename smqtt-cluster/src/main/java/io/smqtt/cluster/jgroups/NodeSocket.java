// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;

/** A socket with its own streams over a connection. Implements what the channel's transport uses. */
@AnyThread
@SuppressWarnings(
        "UnsynchronizedOverridesSynchronized") // the connection below has locks of its own, and closing must not wait
// for any
class NodeSocket extends Socket {

    private final Socket below;
    private final InputStream in;
    private final OutputStream out;

    NodeSocket(Socket below, InputStream in, OutputStream out) {
        this.below = below;
        this.in = in;
        this.out = out;
    }

    /** Closes a socket at once. */
    static void hangUp(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // the socket is closed anyway
        }
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return in;
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return out;
    }

    @Override
    public void bind(SocketAddress address) throws IOException {
        below.bind(address);
    }

    @Override
    public void connect(SocketAddress address) throws IOException {
        connect(address, 0);
    }

    @Override
    public void connect(SocketAddress address, int timeoutMillis) throws IOException {
        below.connect(address, timeoutMillis);
    }

    /** Closes at once: pending data has been sent before, and a reader of encrypted bytes may hold locks. */
    @Override
    public void close() throws IOException {
        below.close();
    }

    @Override
    public InetAddress getInetAddress() {
        return below.getInetAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        return below.getLocalAddress();
    }

    @Override
    public int getPort() {
        return below.getPort();
    }

    @Override
    public int getLocalPort() {
        return below.getLocalPort();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return below.getRemoteSocketAddress();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return below.getLocalSocketAddress();
    }

    @Override
    public boolean isConnected() {
        return below.isConnected();
    }

    @Override
    public boolean isBound() {
        return below.isBound();
    }

    @Override
    public boolean isClosed() {
        return below.isClosed();
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        below.setTcpNoDelay(on);
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        below.setKeepAlive(on);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        below.setSoLinger(on, seconds);
    }

    @Override
    public void setSendBufferSize(int bytes) throws SocketException {
        below.setSendBufferSize(bytes);
    }

    @Override
    public void setReceiveBufferSize(int bytes) throws SocketException {
        below.setReceiveBufferSize(bytes);
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        below.setSoTimeout(millis);
    }

    @Override
    public int getSoTimeout() throws SocketException {
        return below.getSoTimeout();
    }
}
