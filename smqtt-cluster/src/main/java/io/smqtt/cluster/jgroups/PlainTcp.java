// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.io.DataInput;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jgroups.Message;
import org.jgroups.PhysicalAddress;
import org.jgroups.blocks.cs.Connection;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.TCP;
import org.jgroups.util.MessageBatch;
import org.jspecify.annotations.Nullable;

/**
 * The transport of the channel, which takes what {@link WireMessages} takes, and keeps a bounded number of connections of
 * processes that are no members, since each has a thread: past that the oldest one is closed. Made by the channel, which
 * needs it public; not for anybody else. Any thread.
 */
public final class PlainTcp extends TCP {

    /** Connections of processes that are no members, at most. */
    static final int MAXIMUM_STRANGERS = 64;

    /** The oldest first; guarded by itself. */
    private final Set<Connection> strangers = new LinkedHashSet<>();

    /** Creates a transport that says and understands what that of the channel does. */
    public PlainTcp() {
        setId(ClassConfigurator.getProtocolId(TCP.class));
    }

    @Override
    protected void handleSingleMessage(DataInput in, boolean multicast) {
        Message message;
        try {
            message = WireMessages.read(in);
        } catch (IOException | ClassNotFoundException | OutOfMemoryError e) {
            throw refused(e);
        }
        try {
            if (multicast || !unicastDestMismatch(message.getDest())) {
                msg_processing_policy.process(message, message.isFlagSet(Message.Flag.OOB));
                msg_stats.received(message);
            }
        } catch (RuntimeException | Error e) { // of a protocol above; the peer is none the wiser
            log.error("a message was not taken", e);
        }
    }

    @Override
    protected void handleMessageBatch(DataInput in, boolean multicast) {
        @Nullable MessageBatch[] batches;
        try {
            batches = WireMessages.readBatch(in, multicast);
        } catch (IOException | ClassNotFoundException | OutOfMemoryError e) {
            throw refused(e);
        }
        MessageBatch inOrder = batches[0];
        MessageBatch overtaking = batches[1];
        if (overtaking != null) {
            msg_stats.received(overtaking);
        }
        if (inOrder != null) {
            msg_stats.received(inOrder);
        }
        processBatch(overtaking, true);
        processBatch(inOrder, false);
    }

    /** Ends the connection: what follows on it cannot be told from the rest of what was refused. */
    private static IllegalStateException refused(Throwable cause) {
        return new IllegalStateException("a message is not what a node says: " + cause.getMessage(), cause);
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

    @Override
    public void connectionClosed(Connection connection) {
        synchronized (strangers) {
            strangers.remove(connection);
        }
        super.connectionClosed(connection);
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
