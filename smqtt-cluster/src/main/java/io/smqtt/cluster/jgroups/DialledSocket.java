// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.cluster.jgroups.LinkSecurity.Link;
import io.smqtt.cluster.jgroups.Refusals.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A connection to another node that this one has dialled. The two show each other what they must on the thread that reads; until then what
 * is written waits here, because the thread that writes does so to all nodes and must not wait for one that does not answer.
 */
final class DialledSocket extends NodeSocket {

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int WAITING_BYTES = 512 * 1024;

    private DialledSocket(Socket below, Beginning beginning) {
        super(below, beginning, beginning.outbox);
    }

    DialledSocket(LinkSecurity security, Refusals refusals) {
        this(security, refusals, new Socket());
    }

    private DialledSocket(LinkSecurity security, Refusals refusals, Socket below) {
        this(below, new Beginning(security, refusals, below));
    }

    /** Reads from the other end when it has shown what it must. For the one thread that reads. */
    private static final class Beginning extends InputStream {

        private final LinkSecurity security;
        private final Refusals refusals;
        private final Socket below;
        private final Outbox outbox = new Outbox();
        private @Nullable InputStream source;

        Beginning(LinkSecurity security, Refusals refusals, Socket below) {
            this.security = security;
            this.refusals = refusals;
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
            Object address = below.getRemoteSocketAddress();
            try {
                below.setSoTimeout((int) PATIENCE.toMillis());
                Link link = security.dial(below);
                below.setSoTimeout(0);
                outbox.open(link.out());
                return link.in();
            } catch (RefusedException e) {
                refusals.refused(e.reason(), address, e.getMessage());
                throw hungUp(e);
            } catch (SocketTimeoutException e) {
                refusals.refused(Reason.SLOW, address, null);
                throw hungUp(e);
            }
        }

        /** One that the channel says nothing about. */
        private SocketException hungUp(IOException cause) throws IOException {
            below.close();
            SocketException exception = new SocketException(cause.getMessage());
            exception.initCause(cause);
            return exception;
        }
    }

    /** Keeps what is written until the connection is open. Any thread. */
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
