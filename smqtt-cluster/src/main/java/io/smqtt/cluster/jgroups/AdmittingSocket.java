// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.cluster.jgroups.LinkSecurity.Link;
import io.smqtt.cluster.jgroups.Refusals.Reason;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jgroups.Global;
import org.jgroups.Version;
import org.jgroups.blocks.cs.Connection;
import org.jspecify.annotations.Nullable;

/**
 * The port of the cluster. Hands on connections whose other end has shown what {@link LinkSecurity} wants and has said where it can be
 * reached, all of it within {@value #PATIENCE_SECONDS} seconds; {@value #MAXIMUM_STRANGERS} others at most are looked at at a time, past
 * that the oldest one is closed. Nothing that such a one says is read but a number of bytes that is known before.
 */
final class AdmittingSocket extends ServerSocket {

    /** Connections whose other end has not yet said who it is, at most; each has a thread. */
    static final int MAXIMUM_STRANGERS = 64;

    private static final int PATIENCE_SECONDS = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(PATIENCE_SECONDS);
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final int BACKLOG = 128;
    private static final int IDLE_SECONDS = 10;
    private static final int IPV4_REST = Global.IPV4_SIZE + Short.BYTES;
    private static final int IPV6_REST = Global.IPV6_SIZE + Integer.BYTES + Short.BYTES;

    private final LinkSecurity security;
    private final Refusals refusals;
    private final LimitedLog errors = new LimitedLog(System::nanoTime);
    private final BlockingQueue<NodeSocket> admitted = new ArrayBlockingQueue<>(MAXIMUM_STRANGERS);
    private final ThreadPoolExecutor examiners;
    private final ScheduledThreadPoolExecutor clock;

    /** The oldest first; guarded by itself. */
    private final Set<Socket> strangers = new LinkedHashSet<>();

    AdmittingSocket(LinkSecurity security, Refusals refusals) throws IOException {
        this.security = security;
        this.refusals = refusals;
        examiners = new ThreadPoolExecutor(
                MAXIMUM_STRANGERS,
                MAXIMUM_STRANGERS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MAXIMUM_STRANGERS),
                work -> daemon(work, "smqtt-cluster-admission"));
        examiners.allowCoreThreadTimeOut(true);
        clock = new ScheduledThreadPoolExecutor(1, work -> daemon(work, "smqtt-cluster-admission-clock"));
        clock.setRemoveOnCancelPolicy(true);
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
                NodeSocket next = admitted.poll(1, TimeUnit.SECONDS);
                if (next != null) {
                    return next;
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
                examine(super.accept());
            } catch (IOException e) {
                if (!isClosed()) { // such as no file descriptors left
                    errors.warn("a connection of the cluster's port was not accepted", e);
                    LockSupport.parkNanos(PAUSE.toNanos());
                }
            }
        }
    }

    private void examine(Socket stranger) {
        Socket oldest = null;
        synchronized (strangers) {
            strangers.add(stranger);
            if (strangers.size() > MAXIMUM_STRANGERS) {
                Iterator<Socket> first = strangers.iterator();
                oldest = first.next();
                first.remove();
            }
        }
        if (oldest != null) {
            refusals.refused(Reason.CROWDED, oldest.getRemoteSocketAddress(), null);
            hangUp(oldest);
        }
        try {
            examiners.execute(() -> admit(stranger));
        } catch (RejectedExecutionException e) { // closed, or those that were hung up on are still going
            leave(stranger);
            hangUp(stranger);
        }
    }

    private void leave(Socket stranger) {
        synchronized (strangers) {
            strangers.remove(stranger);
        }
    }

    private void admit(Socket stranger) {
        Object address = stranger.getRemoteSocketAddress();
        AtomicBoolean isLate = new AtomicBoolean();
        Future<?> deadline = null;
        NodeSocket node = null;
        try {
            deadline = clock.schedule(
                    () -> {
                        isLate.set(true);
                        hangUp(stranger);
                    },
                    PATIENCE_SECONDS,
                    TimeUnit.SECONDS);
            stranger.setTcpNoDelay(true);
            stranger.setSoTimeout((int) PATIENCE.toMillis());
            Link link = security.accept(stranger);
            InputStream all = new SequenceInputStream(new ByteArrayInputStream(greeting(link.in())), link.in());
            stranger.setSoTimeout(0);
            if (deadline.cancel(false)) {
                node = new NodeSocket(stranger, all, link.out());
            }
        } catch (RefusedException e) {
            refusals.refused(e.reason(), address, e.getMessage());
        } catch (SocketTimeoutException e) {
            isLate.set(true);
        } catch (IOException | RejectedExecutionException e) { // it has hung up, or was hung up on, which was said then
            errors.debug("a connection ended before it was known whose it is", e);
        } catch (RuntimeException e) { // of a provider of TLS
            errors.error("a connection was not looked at", e);
        } finally {
            leave(stranger);
            if (deadline != null) {
                deadline.cancel(false);
            }
            if (node == null || isClosed() || !admitted.offer(node)) {
                hangUp(stranger);
            }
        }
        if (isLate.get()) {
            refusals.refused(Reason.SLOW, address, null);
        }
    }

    /** Reads what each connection begins with: four bytes that name the channel's library, its version, and an address. */
    private static byte[] greeting(InputStream in) throws IOException {
        int fixed = Connection.cookie.length + 2 * Short.BYTES + 1;
        byte[] begin = exactly(in, fixed);
        short version =
                (short) (begin[Connection.cookie.length] << Byte.SIZE | begin[Connection.cookie.length + 1] & 0xFF);
        if (!Arrays.equals(begin, 0, Connection.cookie.length, Connection.cookie, 0, Connection.cookie.length)
                || !Version.isBinaryCompatible(version)) {
            throw new RefusedException(Reason.GREETING, "other first bytes");
        }
        int rest = switch (begin[fixed - 1]) {
            case Global.IPV4_SIZE -> IPV4_REST;
            case Global.IPV6_SIZE -> IPV6_REST;
            default -> throw new RefusedException(Reason.GREETING, "an address of " + begin[fixed - 1] + " bytes");
        };
        byte[] all = Arrays.copyOf(begin, fixed + rest);
        System.arraycopy(exactly(in, rest), 0, all, fixed, rest);
        return all;
    }

    private static byte[] exactly(InputStream in, int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException();
        }
        return bytes;
    }

    @Override
    public void close() throws IOException {
        super.close();
        examiners.shutdownNow();
        clock.shutdownNow();
        Socket[] open;
        synchronized (strangers) {
            open = strangers.toArray(Socket[]::new);
            strangers.clear();
        }
        for (Socket stranger : open) {
            hangUp(stranger);
        }
        for (NodeSocket next = admitted.poll(); next != null; next = admitted.poll()) {
            hangUp(next);
        }
    }

    private static void hangUp(@Nullable Socket socket) {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException e) {
            // it is closed all the same
        }
    }
}
