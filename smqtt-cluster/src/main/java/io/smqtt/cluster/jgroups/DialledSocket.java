// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.cluster.jgroups.LinkSecurity.Link;
import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A connection that this node dials. It is opened on the reading thread, with its handshake, and counts as connected before. Data that is
 * written meanwhile waits here, because the writing thread serves all nodes and must not wait for one that does not answer.
 */
final class DialledSocket extends NodeSocket {

    private static final int WAITING_BYTES = 512 * 1024;

    private final Beginning beginning;

    private DialledSocket(Socket below, Beginning beginning) {
        super(below, beginning, beginning.outbox);
        this.beginning = beginning;
    }

    /**
     * Creates a socket that is not connected.
     *
     * @param reached has the address from the moment when it is connected, until a later connection or handshake with it fails. The end of a
     *     connection says nothing: of two nodes that dial each other at the same moment one closes the connection of the other one
     */
    DialledSocket(LinkSecurity security, Refusals refusals, HandshakeTimer timer, Set<SocketAddress> reached) {
        this(security, refusals, timer, reached, new Socket());
    }

    private DialledSocket(
            LinkSecurity security, Refusals refusals, HandshakeTimer timer, Set<SocketAddress> reached, Socket below) {
        this(below, new Beginning(security, refusals, timer, reached, below));
    }

    /** Sets the address; the first read connects. */
    @Override
    public void connect(SocketAddress address, int timeoutMillis) throws IOException {
        if (!(address instanceof InetSocketAddress target) || target.isUnresolved()) {
            throw new SocketException("no address of a node: " + address);
        }
        beginning.timeoutMillis = timeoutMillis;
        beginning.target = target;
    }

    @Override
    public synchronized void close() throws IOException {
        beginning.isClosedHere = true;
        super.close();
    }

    @Override
    public boolean isConnected() {
        return beginning.target != null;
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        InetSocketAddress target = beginning.target;
        return target == null ? super.getRemoteSocketAddress() : target;
    }

    @Override
    public InetAddress getInetAddress() {
        InetSocketAddress target = beginning.target;
        return target == null ? super.getInetAddress() : target.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress target = beginning.target;
        return target == null ? super.getPort() : target.getPort();
    }

    /** Reads from the other end after the connection and the handshake. For the reading thread only. */
    private static final class Beginning extends InputStream {

        private final LinkSecurity security;
        private final Refusals refusals;
        private final HandshakeTimer timer;
        private final Set<SocketAddress> reached;
        private final Socket below;
        private final Outbox outbox = new Outbox();
        private @Nullable InputStream source;
        private volatile int timeoutMillis;
        private volatile @Nullable InetSocketAddress target;
        private volatile boolean isClosedHere;

        Beginning(
                LinkSecurity security,
                Refusals refusals,
                HandshakeTimer timer,
                Set<SocketAddress> reached,
                Socket below) {
            this.security = security;
            this.refusals = refusals;
            this.timer = timer;
            this.reached = reached;
            this.below = below;
        }

        @Override
        public int read() throws IOException {
            return source().read();
        }

        @Override
        public int read(byte[] bytes, int offset, int count) throws IOException {
            return source().read(bytes, offset, count);
        }

        private InputStream source() throws IOException {
            InputStream opened = source;
            return opened == null ? source = open() : opened;
        }

        private InputStream open() throws IOException {
            InetSocketAddress address = target;
            if (address == null) {
                throw new SocketException("not connected");
            }
            try {
                below.connect(address, timeoutMillis);
                reached.add(address);
            } catch (IOException e) {
                if (isClosedHere) { // not known: as if it was connected, until the next attempt
                    reached.add(address);
                } else {
                    reached.remove(address);
                }
                hangUp(below);
                throw ended(e);
            }
            AtomicBoolean isOver = new AtomicBoolean();
            Future<?> deadline = timer.start(() -> {
                if (isOver.compareAndSet(false, true)) {
                    refusals.failed(Refusal.TIMEOUT, address, null); // counted before the end is visible
                    hangUp(below);
                }
            });
            try {
                Link link = security.dial(below);
                if (!isOver.compareAndSet(false, true)) {
                    throw new SocketException("the handshake has timed out");
                }
                outbox.open(link.out());
                return link.in();
            } catch (IOException e) {
                boolean isPeers = !below.isClosed() && isOver.compareAndSet(false, true);
                if (isPeers) {
                    reached.remove(address);
                    Refusal reason = e instanceof RefusedException refused ? refused.reason() : Refusal.ABORTED;
                    refusals.failed(reason, address, e.getMessage());
                }
                hangUp(below);
                throw ended(e);
            } finally {
                deadline.cancel(false);
            }
        }

        /** An exception that the channel does not log. */
        private static SocketException ended(IOException cause) {
            SocketException exception = new SocketException(cause.getMessage());
            exception.initCause(cause);
            return exception;
        }
    }

    /** Buffers written data until the connection is open. */
    @AnyThread
    private static final class Outbox extends OutputStream {

        private volatile @Nullable OutputStream target;
        private @Nullable ByteArrayOutputStream waiting; // guarded by this

        @Override
        public void write(int single) throws IOException {
            write(new byte[] {(byte) single}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            OutputStream open = target;
            if (open == null) {
                open = keep(bytes, offset, count);
            }
            if (open != null) {
                open.write(bytes, offset, count);
            }
        }

        private synchronized @Nullable OutputStream keep(byte[] bytes, int offset, int count) throws IOException {
            OutputStream open = target;
            if (open != null) {
                return open;
            }
            ByteArrayOutputStream kept = waiting;
            if (kept == null) {
                waiting = kept = new ByteArrayOutputStream();
            }
            if (kept.size() + count > WAITING_BYTES) {
                throw new SocketException("the other end has not answered yet");
            }
            kept.write(bytes, offset, count);
            return null;
        }

        synchronized void open(OutputStream opened) throws IOException {
            ByteArrayOutputStream kept = waiting;
            waiting = null;
            if (kept != null) {
                kept.writeTo(opened);
                opened.flush();
            }
            target = opened;
        }

        @Override
        public void flush() throws IOException {
            OutputStream open = target;
            if (open != null) {
                open.flush();
            }
        }
    }
}
