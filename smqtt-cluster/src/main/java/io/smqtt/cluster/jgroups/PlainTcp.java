// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.thread.AnyThread;
import java.io.DataInput;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.AbstractCollection;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jgroups.Address;
import org.jgroups.Message;
import org.jgroups.PhysicalAddress;
import org.jgroups.Version;
import org.jgroups.blocks.cs.Connection;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.MessageBatch;
import org.jspecify.annotations.Nullable;

/**
 * The transport of the channel. It reads only frames that {@link WireMessages} accepts, and closes a connection on which anything else
 * arrives. The number of connections of processes that are not members is limited, because each has a thread: past the limit the oldest
 * one is closed, and the state of such a process is removed with its connection. Created by the channel, which needs it public; not for
 * other use.
 *
 * <p><b>Silent connections.</b> Every peer sends something at least every two seconds. A connection on which nothing has arrived for
 * {@value #SILENT_CHECKS} checks, one each {@value #CHECK_MILLIS} ms, is closed, also if only one direction is interrupted: the system
 * would send its data again after ever longer pauses, and the peer would not be heard for up to a minute after the network is whole. The
 * next message opens a new one. Nothing is written to a connection that is closed because its peer has failed, as that may block.
 */
@AnyThread
public final class PlainTcp extends TCP {

    /** Maximum number of connections of processes that are not members. */
    static final int MAXIMUM_STRANGERS = 64;

    /** The initial size of the buffer for a frame, which is doubled as more arrives. */
    private static final int FIRST_BYTES = 8 * 1024;

    private static final long CHECK_MILLIS = 500;

    /** Longer than the detection of a failed member, which asks it by its connection. */
    private static final int SILENT_CHECKS = 14;

    /** A connection that is silent for longer is not flushed when it is replaced. */
    private static final int REPLACED_CHECKS = 4;

    private static final String NO_SECRET = "the other node has a cluster.secret and this one has none";

    /** Version of the channel's library, and flags. */
    private static final int HEAD_BYTES = Short.BYTES + 1;

    /** The number of connections of non-members after which the channel drops the addresses from them. */
    private static final int FORGOTTEN_TOGETHER = 1_024;

    /** The state of a reading thread, which reads one connection and ends with it. */
    private static final ThreadLocal<@Nullable Reading> READING = new ThreadLocal<>();

    private static final int MAXIMUM_ANSWERED = 1_000;

    private static final short PIECE = ClassConfigurator.getProtocolId(FRAG4.class);

    /** The oldest first; guarded by itself. */
    private final Set<Connection> strangers = new LinkedHashSet<>();

    private final AtomicInteger forgettable = new AtomicInteger();

    /** The number of open connections by sender. */
    private final Map<Address, Integer> senders = new ConcurrentHashMap<>();

    /** Addresses of processes from which something was received; the first ones, as they are of interest at the start. */
    private final Set<SocketAddress> answered = ConcurrentHashMap.newKeySet();

    /** When the last connection of a sender has begun or ended; the first ones. */
    private final Map<Address, Long> heardAtNanos = new ConcurrentHashMap<>();

    private final Map<Address, Silence> silences = new ConcurrentHashMap<>();

    private WireProfile profile = WireProfile.CLUSTER;
    private @Nullable NodeSockets sockets;
    private @Nullable Refusals refusals;
    private @Nullable Future<?> checks;

    /** The reading thread's state of a connection. */
    private static final class Reading {

        private byte[] buffer = new byte[FIRST_BYTES];
        private @Nullable Address sender;

        /** Whether its thread is in {@link PlainTcp#receive}: a close there has another reason than the end of the stream. */
        private boolean isReceiving;
    }

    /** Creates a transport with the wire format of the channel's own. */
    public PlainTcp() {
        setId(ClassConfigurator.getProtocolId(TCP.class));
    }

    /** Sets the socket factory and the refusal callback, before any other call. */
    void guard(NodeSockets factory, Refusals callback) {
        setSocketFactory(factory);
        sockets = factory;
        refusals = callback;
    }

    /** Sets the headers and addresses that are accepted, before any other call. */
    void accept(WireProfile accepted) {
        profile = accepted;
    }

    /** The addresses at which processes accept connections of this node, and from which nothing has been received. */
    Set<SocketAddress> silent() {
        NodeSockets own = sockets;
        Set<SocketAddress> silent = new HashSet<>(own == null ? Set.of() : own.reached());
        silent.removeAll(answered);
        return silent;
    }

    /**
     * The processes that have sent something on a connection that is open now, members and others.
     *
     * @param longest the time for which one counts whose connection has ended
     */
    Set<Address> heard(Duration longest) {
        long now = System.nanoTime();
        Set<Address> heard = new HashSet<>(senders.keySet());
        heardAtNanos.forEach((sender, at) -> {
            if (now - at <= longest.toNanos()) {
                heard.add(sender);
            }
        });
        return heard;
    }

    private void heard(Address sender) {
        if (heardAtNanos.size() < MAXIMUM_ANSWERED) {
            heardAtNanos.put(sender, System.nanoTime());
        }
    }

    @Override
    public void start() throws Exception {
        super.start();
        checks =
                getTimer().scheduleWithFixedDelay(this::closeSilent, CHECK_MILLIS, CHECK_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void stop() {
        Future<?> running = checks;
        if (running != null) {
            running.cancel(false);
        }
        super.stop();
    }

    private Silence silenceOf(Address peer) {
        Silence silence = silences.get(peer);
        return silence == null ? silences.computeIfAbsent(peer, address -> new Silence()) : silence;
    }

    private void closeSilent() {
        silences.keySet().removeIf(peer -> !srv.hasConnection(peer));
        srv.forAllConnections((peer, connection) -> {
            Silence silence = silenceOf(peer);
            silence.checked();
            if (silence.isLongerThan(SILENT_CHECKS)) {
                log.debug("%s: closing the connection to %s, which is silent", local_addr, peer);
                hangUp(connection);
            }
        });
    }

    @Override
    public void retainAll(Collection<Address> current) {
        srv.forAllConnections((peer, connection) -> {
            if (!current.contains(peer) && !is_member.test((PhysicalAddress) peer)) {
                hangUp(connection);
            }
        });
        super.retainAll(current);
    }

    @Override
    public void receive(Address peer, DataInput in, int length) throws IOException {
        if (peer.equals(local_physical_addr)) {
            throw refused(peer, new IOException("it names the address of this node as its own"));
        }
        if (length == SealedLink.FIRST_BYTES) {
            throw hasNoSecret(peer);
        }
        if (length < HEAD_BYTES || length > WireMessages.MAXIMUM_BYTES) {
            throw refused(peer, new IOException("a frame of " + length + " bytes"));
        }
        Reading connection = READING.get();
        if (connection == null) {
            connection = new Reading();
            READING.set(connection);
        }
        connection.isReceiving = true;
        try {
            receive(connection, peer, in, length);
        } finally {
            connection.isReceiving = false;
        }
    }

    private void receive(Reading connection, Address peer, DataInput in, int length) throws IOException {
        Silence silence = silenceOf(peer);
        byte[] frame = read(connection, silence, in, length);
        silence.processing();
        try {
            process(connection, peer, frame, length);
        } finally {
            silence.heard();
        }
    }

    private void process(Reading connection, Address peer, byte[] frame, int length) throws IOException {
        @Nullable Message message = null;
        @Nullable MessageBatch[] batches = null;
        boolean isToAll;
        try {
            ByteArrayDataInputStream bytes = new ByteArrayDataInputStream(frame, 0, length);
            if (!Version.isBinaryCompatible(bytes.readShort())) {
                throw new IOException("another version of the protocol");
            }
            byte flags = bytes.readByte();
            isToAll = (flags & MULTICAST) != 0;
            if ((flags & LIST) != 0) {
                batches = WireMessages.readBatch(bytes, isToAll, profile);
            } else {
                message = WireMessages.read(bytes, profile);
            }
            requireOneSender(connection, peer, message, batches);
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            throw refused(peer, e);
        }
        try {
            if (message != null) {
                take(message, isToAll);
            } else if (batches != null) {
                take(batches[1], true);
                take(batches[0], false);
            }
        } catch (RuntimeException e) { // from a protocol above
            log.error("processing a message failed", e);
        }
    }

    /** Reads a frame without allocating more than twice the received bytes. */
    private static byte[] read(Reading connection, Silence silence, DataInput in, int length) throws IOException {
        byte[] buffer = connection.buffer;
        int arrived = 0;
        while (arrived < length) {
            if (arrived == buffer.length) {
                buffer = Arrays.copyOf(buffer, Math.min(2 * buffer.length, WireMessages.MAXIMUM_BYTES));
                connection.buffer = buffer;
            }
            int part = Math.min(length, buffer.length) - arrived;
            in.readFully(buffer, arrived, part);
            silence.heard();
            arrived += part;
        }
        return buffer;
    }

    /** Requires one address per connection, so that the state of a sender ends with its connection. */
    private void requireOneSender(
            Reading connection, Address peer, @Nullable Message message, @Nullable MessageBatch @Nullable [] batches)
            throws IOException {
        Address sender = message == null ? null : message.getSrc();
        if (batches != null) {
            MessageBatch any = batches[0] == null ? batches[1] : batches[0];
            if (any == null) {
                throw new IOException("a frame without a message");
            }
            sender = any.getSender();
        }
        if (sender == null) {
            throw new IOException("a message without a sender");
        }
        if (connection.sender == null) {
            connection.sender = sender;
            senders.merge(sender, 1, Integer::sum);
            heard(sender);
            if (peer instanceof IpAddress place && answered.size() < MAXIMUM_ANSWERED) {
                answered.add(new InetSocketAddress(place.getIpAddress(), place.getPort()));
            }
        } else if (!sender.equals(connection.sender)) {
            throw new IOException("messages of two senders");
        }
    }

    private void take(Message message, boolean isToAll) {
        if (!isToAll && unicastDestMismatch(message.getDest()) || isPieceOfAStranger(message)) {
            return;
        }
        msg_stats.received(message);
        msg_processing_policy.process(message, message.isFlagSet(Message.Flag.OOB));
    }

    private void take(@Nullable MessageBatch batch, boolean overtakes) {
        if (batch == null) {
            return;
        }
        if (!members.contains(batch.getSender())) {
            batch.removeIf(this::isPieceOfAStranger, true);
        }
        msg_stats.received(batch);
        processBatch(batch, overtakes);
    }

    /** Refuses fragments of non-members: they send nothing large, and the fragments would be kept until the next view. */
    private boolean isPieceOfAStranger(Message message) {
        return message.getHeader(PIECE) != null && !members.contains(message.getSrc());
    }

    /** The node that was dialled begins a handshake with a secret. */
    private SocketException hasNoSecret(Object peer) {
        Refusals current = refusals;
        if (current != null) {
            current.failed(Refusal.AUTHENTICATION, peer, NO_SECRET);
        }
        return new SocketException(NO_SECRET);
    }

    /** Closes the connection, because the next frame cannot be found after a refused one. */
    private SocketException refused(Object peer, Exception cause) {
        Refusals current = refusals;
        if (current != null) {
            current.rejected(Refusal.FRAME, peer, cause.getMessage());
        }
        return new SocketException(cause.getMessage()); // an exception that the channel does not log
    }

    @Override
    public void connectionEstablished(Connection connection) {
        super.connectionEstablished(connection);
        hangUpPrevious(connection.peerAddress());
        synchronized (strangers) {
            strangers.add(connection);
            Iterator<Connection> oldest = strangers.iterator();
            while (strangers.size() > MAXIMUM_STRANGERS && oldest.hasNext()) {
                Connection next = oldest.next();
                oldest.remove();
                if (!is_member.test((PhysicalAddress) next.peerAddress())) {
                    hangUp(next);
                }
            }
        }
    }

    /** Closes a silent connection that another one replaces: the channel would flush it, which may block all connections. */
    private void hangUpPrevious(Address peer) {
        Silence silence = silenceOf(peer);
        if (silence.isLongerThan(REPLACED_CHECKS)) {
            srv.forAllConnections((other, connection) -> {
                if (other.equals(peer)) {
                    hangUp(connection);
                }
            });
        }
        silence.heard();
    }

    /** Called by the reading thread at its end, and by any thread that closes the connection. */
    @Override
    public void connectionClosed(Connection connection) {
        synchronized (strangers) {
            strangers.remove(connection);
        }
        Address sender = endOfReading();
        if (sender == null || !members.contains(sender)) {
            if (sender != null && senders.get(sender) == null) {
                forget(sender);
            }
            if (forgettable.incrementAndGet() % FORGOTTEN_TOGETHER == 0) {
                srv.retainAll(new Connected(), address -> true);
            }
        }
        if (sender != null) { // otherwise it was not opened, or another thread closes it
            super.connectionClosed(connection);
        }
    }

    /** Returns the sender whose connection the calling thread has read to its end; null if none. */
    private @Nullable Address endOfReading() {
        Reading ended = READING.get();
        if (ended == null || ended.isReceiving) {
            return null;
        }
        READING.remove();
        if (ended.sender != null) {
            heard(ended.sender);
            senders.computeIfPresent(ended.sender, (sender, count) -> count == 1 ? null : count - 1);
        }
        return ended.sender;
    }

    /** A live view of the connected addresses. */
    private final class Connected extends AbstractCollection<Address> {

        @Override
        public boolean contains(Object address) {
            return srv.hasConnection((Address) address);
        }

        @Override
        public Iterator<Address> iterator() {
            Set<Address> all = new LinkedHashSet<>();
            srv.forAllConnections((address, connection) -> all.add(address));
            return all.iterator();
        }

        @Override
        public int size() { // larger than any argument, so that the caller checks each of its own addresses
            return Integer.MAX_VALUE;
        }
    }

    private void forget(Address sender) {
        UNICAST3 reliable = stack.findProtocol(UNICAST3.class);
        if (reliable != null) {
            reliable.removeReceiveConnection(sender);
            reliable.removeSendConnection(sender);
        }
    }

    /** Closes a connection; its reader then removes it. Does not wait, because locks of the server are held. */
    private static void hangUp(Connection connection) {
        try {
            connection.close(false);
        } catch (IOException e) {
            // the socket is closed anyway
        }
    }
}
