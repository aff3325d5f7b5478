// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.thread.AnyThread;
import java.io.DataInput;
import java.io.IOException;
import java.net.SocketException;
import java.util.AbstractCollection;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.SocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The transport of the channel, which takes what {@link WireMessages} takes, frame by frame, and ends a connection on which
 * anything else arrives. It keeps a bounded number of connections of processes that are no members, since each has a
 * thread: past that the oldest one is closed, and what the channel remembers of such a process goes with its connection.
 * Made by the channel, which needs it public; not for anybody else.
 */
@AnyThread
public final class PlainTcp extends TCP {

    /** Connections of processes that are no members, at most. */
    static final int MAXIMUM_STRANGERS = 64;

    /** A frame is read into a buffer that is as long at first, and doubled as more arrives. */
    private static final int FIRST_BYTES = 8 * 1024;

    /** Version of the channel's library, and flags. */
    private static final int HEAD_BYTES = Short.BYTES + 1;

    /** After as many connections of others than members the channel forgets the addresses that they had named. */
    private static final int FORGOTTEN_TOGETHER = 1_024;

    /** Of the threads that read connections, each of which reads one and ends with it. */
    private static final ThreadLocal<@Nullable Reading> READING = new ThreadLocal<>();

    private static final short PIECE = ClassConfigurator.getProtocolId(FRAG4.class);

    /** The oldest first; guarded by itself. */
    private final Set<Connection> strangers = new LinkedHashSet<>();

    private final AtomicInteger forgettable = new AtomicInteger();

    /** In how many open connections each sender has sent something. */
    private final Map<Address, Integer> senders = new ConcurrentHashMap<>();

    private @Nullable Refusals refusals;

    /** What the thread that reads a connection knows of it. */
    private static final class Reading {

        private byte[] buffer = new byte[FIRST_BYTES];
        private @Nullable Address sender;

        /** Whether its thread is in {@link PlainTcp#receive}: what is closed there is closed for another reason than its end. */
        private boolean isReceiving;
    }

    /** Creates a transport that says and understands what that of the channel does. */
    public PlainTcp() {
        setId(ClassConfigurator.getProtocolId(TCP.class));
    }

    /** Sets what makes connections and what is told of refusals, before anything else is done. */
    void guard(SocketFactory sockets, Refusals told) {
        setSocketFactory(sockets);
        refusals = told;
    }

    @Override
    public void receive(Address peer, DataInput in, int length) throws IOException {
        if (peer.equals(local_physical_addr)) {
            throw refused(peer, new IOException("it names the address of this node as its own"));
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
        byte[] frame = read(connection, in, length);
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
                batches = WireMessages.readBatch(bytes, isToAll);
            } else {
                message = WireMessages.read(bytes);
            }
            requireOneSender(connection, message, batches);
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
        } catch (RuntimeException e) { // of a protocol above; the peer is none the wiser
            log.error("processing a message failed", e);
        }
    }

    /** Reads a frame without allocating more than twice of what has arrived. */
    private static byte[] read(Reading connection, DataInput in, int length) throws IOException {
        byte[] buffer = connection.buffer;
        int arrived = 0;
        while (arrived < length) {
            if (arrived == buffer.length) {
                buffer = Arrays.copyOf(buffer, Math.min(2 * buffer.length, WireMessages.MAXIMUM_BYTES));
                connection.buffer = buffer;
            }
            int part = Math.min(length, buffer.length) - arrived;
            in.readFully(buffer, arrived, part);
            arrived += part;
        }
        return buffer;
    }

    /** One process, one connection, one address: so what is kept for a sender ends with its connection. */
    private void requireOneSender(
            Reading connection, @Nullable Message message, @Nullable MessageBatch @Nullable [] batches)
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
            throw new IOException("a message of nobody");
        }
        if (connection.sender == null) {
            connection.sender = sender;
            senders.merge(sender, 1, Integer::sum);
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

    /** Who is no member has nothing long to say, and its pieces would be kept until there is another view. */
    private boolean isPieceOfAStranger(Message message) {
        return message.getHeader(PIECE) != null && !members.contains(message.getSrc());
    }

    /** Ends the connection: what follows on it cannot be told from the rest of what was refused. */
    private SocketException refused(Object peer, Exception cause) {
        Refusals told = refusals;
        if (told != null) {
            told.rejected(Refusal.FRAME, peer, cause.getMessage());
        }
        return new SocketException(cause.getMessage()); // one that the channel says nothing about
    }

    @Override
    public void connectionEstablished(Connection connection) {
        super.connectionEstablished(connection);
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

    /** Called by the thread that reads it, last of all, and by any thread that closes it. */
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
        super.connectionClosed(connection);
    }

    /** Returns whose connection the calling thread has read to its end; null if it has not. */
    private @Nullable Address endOfReading() {
        Reading ended = READING.get();
        if (ended == null || ended.isReceiving) {
            return null;
        }
        READING.remove();
        if (ended.sender != null) {
            senders.computeIfPresent(ended.sender, (sender, count) -> count == 1 ? null : count - 1);
        }
        return ended.sender;
    }

    /** The addresses to which there is a connection at the moment that one asks. */
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
        public int size() { // more than whoever asks: then it is asked for each address of his
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

    /** Its reader sees that and forgets it. Waits for nobody: locks of the server are held. */
    private static void hangUp(Connection connection) {
        try {
            connection.close(false);
        } catch (IOException e) {
            // it is closed all the same
        }
    }
}
