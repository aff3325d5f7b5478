// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Header;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.protocols.raft.AppendEntriesRequest;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.stack.Protocol;
import org.jgroups.util.MessageBatch;
import org.jspecify.annotations.Nullable;

/**
 * Sends entries as bytes, below the protocols of the groups. The engine sends them as objects, which the channel would decode by the number of
 * a class, and large ones in parts that only become an object again behind the channel's own decoder. Here all lengths are checked before
 * anything is created, see {@link EntryBytes}.
 */
final class EntryMessages extends Protocol {

    private volatile long refused;

    @Override
    public Object down(Message message) {
        return down_prot.down(message instanceof ObjectMessage entries ? bytes(entries) : message);
    }

    @Override
    public @Nullable Object up(Message message) {
        Message entries = entries(message);
        return entries == null ? null : up_prot.up(entries);
    }

    @Override
    public void up(MessageBatch batch) {
        MessageBatch decoded = new MessageBatch(
                batch.dest(), batch.sender(), batch.clusterName(), batch.multicast(), batch.mode(), batch.size());
        for (Message message : batch) {
            Message entries = entries(message);
            if (entries != null) {
                decoded.add(entries);
            }
        }
        if (!decoded.isEmpty()) {
            up_prot.up(decoded);
        }
    }

    private static Message bytes(ObjectMessage message) {
        Object content = message.getObject();
        Message encoded;
        if (content == null) {
            encoded = new EmptyMessage(message.getDest());
        } else if (content instanceof LogEntries entries) {
            encoded = new BytesMessage(message.getDest(), EntryBytes.encode(entries));
        } else {
            throw new IllegalArgumentException("a message with a " + content.getClass());
        }
        return sameHead(message, encoded);
    }

    private static Message sameHead(Message from, Message to) {
        to.setSrc(from.getSrc()).setFlag(from.getFlags(false), false).setFlag(from.getFlags(true), true);
        from.getHeaders().forEach(to::putHeader);
        return to;
    }

    /** The message with entries that a message with bytes stands for; others as they are. Null if the bytes are no entries. */
    private @Nullable Message entries(Message message) {
        if (!hasEntries(message)) {
            return message;
        }
        LogEntries entries = null;
        if (message instanceof BytesMessage bytes && bytes.hasArray()) {
            try {
                entries = EntryBytes.decode(bytes.getArray(), bytes.getOffset(), bytes.getLength());
            } catch (MalformedBytesException e) {
                refused++;
                log.debug("%s: entries of %s cannot be decoded: %s", local_addr, message.getSrc(), e.getMessage());
                return null;
            }
        }
        return sameHead(message, new ObjectMessage(message.getDest(), entries));
    }

    private static boolean hasEntries(Message message) {
        for (Header header : message.getHeaders().values()) {
            if (header instanceof AppendEntriesRequest) {
                return true;
            }
        }
        return false;
    }

    /** The messages that were refused since the start. */
    long refused() {
        return refused;
    }
}
