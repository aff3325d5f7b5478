// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.cluster.jgroups.LinkSecurity.Link;
import io.smqtt.log.LogLimiter;
import io.smqtt.spi.ClientNetwork;
import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jgroups.Global;
import org.jgroups.Version;
import org.jgroups.blocks.cs.Connection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The port of the cluster. Passes on connections that have completed the handshake: the other end has authenticated as required by {@link
 * LinkSecurity}, and has sent the greeting of a node, within the time of one {@link HandshakeTimer}. At most {@value #MAXIMUM_HANDSHAKES}
 * connections are in the handshake. Past that the oldest one of the address with the most (of IPv6 the /64 network) is closed, so no
 * address keeps others out. Of an unfinished handshake only a fixed number of bytes is read.
 */
@AnyThread
final class AdmittingSocket extends ServerSocket {

    /** Maximum number of connections that the channel has not accepted; each has a thread until its handshake is finished. */
    static final int MAXIMUM_HANDSHAKES = 64;

    private static final Logger LOG = LoggerFactory.getLogger(AdmittingSocket.class);
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final int BACKLOG = 128;
    private static final int IDLE_SECONDS = 10;
    private static final int IPV4_REST = Global.IPV4_SIZE + Short.BYTES;
    private static final int IPV6_REST = Global.IPV6_SIZE + Integer.BYTES + Short.BYTES;

    private final LinkSecurity security;
    private final Refusals refusals;
    private final HandshakeTimer timer;
    private final LogLimiter errors = new LogLimiter(LOG, Level.WARN, 1);
    private final ThreadPoolExecutor threads;

    /** Those of {@link #pending} whose handshake is finished. */
    private final BlockingQueue<Handshake> admitted = new LinkedBlockingQueue<>();

    /** The oldest first; guarded by itself. The thread that removes one decides about its connection. */
    private final Set<Handshake> pending = new LinkedHashSet<>();

    private boolean ended; // guarded by pending

    AdmittingSocket(LinkSecurity security, Refusals refusals, HandshakeTimer timer) throws IOException {
        this.security = security;
        this.refusals = refusals;
        this.timer = timer;
        threads = new ThreadPoolExecutor(
                MAXIMUM_HANDSHAKES,
                MAXIMUM_HANDSHAKES,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), // has pending ones only
                work -> daemon(work, "smqtt-cluster-admission"));
        threads.allowCoreThreadTimeOut(true);
    }

    /** A connection from its acceptance until the channel uses it. */
    private final class Handshake implements Runnable {

        private final Socket socket;
        private final SocketAddress address;
        private final InetAddress network;
        private @Nullable Future<?> deadline; // guarded by pending
        private volatile @Nullable NodeSocket node;

        Handshake(Socket socket) {
            this.socket = socket;
            this.address = socket.getRemoteSocketAddress();
            this.network = ClientNetwork.of(socket.getInetAddress());
        }

        @Override
        public void run() {
            try {
                socket.setTcpNoDelay(true);
                Link link = security.accept(socket);
                InputStream all = new SequenceInputStream(new ByteArrayInputStream(greeting(link.in())), link.in());
                node = new NodeSocket(socket, all, link.out());
                admit(this);
            } catch (RefusedException e) {
                refuse(this, e.reason(), e.getMessage());
            } catch (
                    IOException
                            e) { // a probe of the port, or closed by the peer, or by this node, which was reported then
                LOG.debug("a cluster connection ended during its handshake", e);
                drop(this);
            } catch (RuntimeException e) { // from the TLS provider
                if (errors.allows("handshakes")) {
                    LOG.warn("the handshake of a cluster connection failed", e);
                }
                drop(this);
            }
        }
    }

    private static Thread daemon(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void bind(SocketAddress address, int ignoredBacklog) throws IOException {
        super.bind(address, BACKLOG);
        daemon(this::acceptAll, "smqtt-cluster-port").start();
    }

    /** Waits for a node. */
    @Override
    public Socket accept() throws IOException {
        try {
            while (!isClosed()) {
                Handshake next = admitted.poll(1, TimeUnit.SECONDS);
                NodeSocket node = next == null ? null : next.node;
                if (next != null && node != null && leave(next)) {
                    return node;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new SocketException("Socket closed");
    }

    private void acceptAll() {
        while (!isClosed()) {
            try {
                begin(super.accept());
            } catch (IOException | OutOfMemoryError e) {
                if (!isClosed()) { // no file descriptors or threads left temporarily
                    if (errors.allows("accepted connections")) {
                        LOG.warn("accepting a cluster connection failed", e);
                    }
                    LockSupport.parkNanos(PAUSE.toNanos());
                }
            }
        }
    }

    private void begin(Socket accepted) {
        Handshake begun = new Handshake(accepted);
        Handshake evicted;
        synchronized (pending) {
            if (ended) {
                NodeSocket.hangUp(accepted);
                return;
            }
            pending.add(begun);
            evicted = pending.size() > MAXIMUM_HANDSHAKES ? oldestOfTheBusiest() : null;
            begun.deadline = timer.start(() -> refuse(begun, Refusal.TIMEOUT, null));
            threads.execute(begun);
        }
        if (evicted != null) {
            refuse(evicted, Refusal.OVERLOAD, null);
        }
    }

    private @Nullable Handshake oldestOfTheBusiest() {
        Map<InetAddress, Integer> counts = new HashMap<>();
        pending.forEach(each -> counts.merge(each.network, 1, Integer::sum));
        int most = Collections.max(counts.values());
        for (Handshake each : pending) {
            if (counts.getOrDefault(each.network, 0) == most) {
                return each;
            }
        }
        return null;
    }

    private void admit(Handshake finished) {
        synchronized (pending) {
            if (pending.contains(finished)) {
                cancel(finished.deadline);
                admitted.add(finished);
            }
        }
    }

    private void refuse(Handshake failed, Refusal reason, @Nullable String details) {
        if (leave(failed)) {
            NodeSocket.hangUp(failed.socket);
            refusals.rejected(reason, failed.address, details);
        }
    }

    private void drop(Handshake failed) {
        if (leave(failed)) {
            NodeSocket.hangUp(failed.socket);
        }
    }

    /** Returns whether it was still pending: true for one caller only. */
    private boolean leave(Handshake handshake) {
        synchronized (pending) {
            if (!pending.remove(handshake)) {
                return false;
            }
            cancel(handshake.deadline);
            admitted.remove(handshake);
            threads.remove(handshake);
            return true;
        }
    }

    private static void cancel(@Nullable Future<?> deadline) {
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    /** Reads the beginning of a connection: four magic bytes of the channel's library, its version, and an address. */
    private static byte[] greeting(InputStream in) throws IOException {
        int fixed = Connection.cookie.length + 2 * Short.BYTES + 1;
        byte[] begin = in.readNBytes(fixed);
        if (begin.length == 0) {
            throw new EOFException();
        }
        requireAll(begin, fixed);
        short version =
                (short) (begin[Connection.cookie.length] << Byte.SIZE | begin[Connection.cookie.length + 1] & 0xFF);
        if (!Arrays.equals(begin, 0, Connection.cookie.length, Connection.cookie, 0, Connection.cookie.length)
                || !Version.isBinaryCompatible(version)) {
            throw new RefusedException(Refusal.PROTOCOL, "unexpected first bytes");
        }
        int rest = switch (begin[fixed - 1]) {
            case Global.IPV4_SIZE -> IPV4_REST;
            case Global.IPV6_SIZE -> IPV6_REST;
            default -> throw new RefusedException(Refusal.PROTOCOL, "an address of " + begin[fixed - 1] + " bytes");
        };
        byte[] all = Arrays.copyOf(begin, fixed + rest);
        byte[] address = in.readNBytes(rest);
        requireAll(address, rest);
        System.arraycopy(address, 0, all, fixed, rest);
        return all;
    }

    private static void requireAll(byte[] bytes, int expected) throws RefusedException {
        if (bytes.length < expected) {
            throw new RefusedException(Refusal.ABORTED, "after " + bytes.length + " of " + expected + " bytes");
        }
    }

    @Override
    public void close() throws IOException {
        super.close();
        List<Handshake> open;
        synchronized (pending) {
            ended = true;
            open = List.copyOf(pending);
        }
        open.forEach(this::drop);
        threads.shutdownNow();
    }
}
