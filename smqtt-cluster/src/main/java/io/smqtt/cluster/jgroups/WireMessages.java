// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.io.DataInput;
import java.io.IOException;
import java.io.InvalidObjectException;
import org.jgroups.BaseMessage;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Header;
import org.jgroups.LongMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.util.AsciiString;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.Digest;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.MutableDigest;
import org.jgroups.util.SeqnoList;
import org.jgroups.util.SizeStreamable;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages of the channel off the wire. The channel's own way creates what a stranger names: messages that hold
 * objects, which go through Java's serialization, and classes by their names. Here is what the protocols of
 * {@link JGroupsStack} send to each other, and everything else is refused before it is read. Any thread.
 */
final class WireMessages {

    /** No message is as long: frames are cut into pieces of 60 KB. */
    static final int MAXIMUM_BYTES = 1024 * 1024;

    private static final int DESTINATION = 1;
    private static final int SOURCE = 2;

    private static final short DIGEST = 9;
    private static final short MUTABLE_DIGEST = 10;
    private static final short SEQUENCE_NUMBERS = 15;

    private WireMessages() {}

    /** Reads one message with its type. */
    static Message read(DataInput in) throws IOException, ClassNotFoundException {
        return read(in.readShort(), in);
    }

    /** Reads what was one message with its type, and nothing behind it. */
    static Message read(byte[] bytes) throws IOException, ClassNotFoundException {
        return read(new ByteArrayDataInputStream(bytes));
    }

    /**
     * Reads messages of one sender to one receiver.
     *
     * @return two batches, null if empty: messages that keep their order, and messages that overtake others
     */
    static @Nullable MessageBatch[] readBatch(DataInput in, boolean multicast)
            throws IOException, ClassNotFoundException {
        var to = Util.readAddress(in);
        var from = Util.readAddress(in);
        byte[] cluster = bytes(in, in.readShort());
        AsciiString name = cluster == null ? null : new AsciiString(cluster);
        int count = in.readInt();
        refuseIf(count < 0 || count > MAXIMUM_BYTES, "count of messages", count);
        MessageBatch[] batches = new MessageBatch[2];
        for (int i = 0; i < count; i++) {
            short type = in.readShort();
            BaseMessage message = create(type);
            message.setDest(to).setSrc(from);
            readInto(message, in);
            boolean overtakes = message.isFlagSet(Message.Flag.OOB);
            int index = overtakes ? 1 : 0;
            if (batches[index] == null) {
                MessageBatch.Mode mode = overtakes ? MessageBatch.Mode.OOB : MessageBatch.Mode.REG;
                batches[index] = new MessageBatch(to, from, name, multicast, mode, Math.min(count, 4_096));
            }
            batches[index].add(message);
        }
        return batches;
    }

    /** Reads one message, of which the type was read. */
    static Message read(short type, DataInput in) throws IOException, ClassNotFoundException {
        return readInto(create(type), in);
    }

    private static BaseMessage create(short type) throws InvalidObjectException {
        return switch (type) {
            case Message.BYTES_MSG -> new BytesMessage();
            case Message.EMPTY_MSG -> new EmptyMessage();
            case Message.LONG_MSG -> new LongMessage();
            case Message.OBJ_MSG -> new ObjectMessage();
            default -> throw new InvalidObjectException("a message of type " + type + " is not for this channel");
        };
    }

    private static Message readInto(BaseMessage message, DataInput in) throws IOException, ClassNotFoundException {
        byte leading = in.readByte();
        message.setFlag(in.readShort(), false);
        if ((leading & DESTINATION) != 0) {
            message.setDest(Util.readAddress(in));
        }
        if ((leading & SOURCE) != 0) {
            message.setSrc(Util.readAddress(in));
        }
        message.headers(headers(in));
        // A message of bytes with this flag is a serialized object for whoever asks for its object, and protocols do.
        boolean bySerialization = message.isFlagSet(Message.Flag.SERIALIZED);
        refuseIf(bySerialization, "flags", Message.Flag.SERIALIZED.value());
        switch (message.getType()) {
            case Message.BYTES_MSG -> {
                byte[] payload = bytes(in, in.readInt());
                if (payload != null) {
                    message.setArray(payload, 0, payload.length);
                }
            }
            case Message.OBJ_MSG -> ((ObjectMessage) message).setObject(object(in));
            default -> message.readPayload(in);
        }
        return message;
    }

    private static byte @Nullable [] bytes(DataInput in, int length) throws IOException {
        if (length < 0) {
            return null;
        }
        refuseIf(length > MAXIMUM_BYTES, "length", length);
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    /** What stable messages and requests for lost ones hold; never a class by its name. */
    private static @Nullable SizeStreamable object(DataInput in) throws IOException, ClassNotFoundException {
        if (in.readByte() == 0) {
            return null;
        }
        short number = in.readShort();
        SizeStreamable object = switch (number) {
            case DIGEST -> new Digest();
            case MUTABLE_DIGEST -> new MutableDigest();
            case SEQUENCE_NUMBERS -> new SeqnoList();
            default -> throw new InvalidObjectException("an object of class " + number + " is not for this channel");
        };
        object.readFrom(in);
        return object;
    }

    private static Header[] headers(DataInput in) throws IOException, ClassNotFoundException {
        int count = in.readShort();
        refuseIf(count < 0, "count of headers", count);
        Header[] headers = new Header[count == 0 ? Util.DEFAULT_HEADERS : count];
        for (int i = 0; i < count; i++) {
            short protocol = in.readShort();
            short number = in.readShort();
            refuseIf(!isKnownHeader(number), "header of class", number);
            Header header = ClassConfigurator.create(number);
            header.readFrom(in);
            headers[i] = header.setProtId(protocol);
        }
        return headers;
    }

    /** The headers of the protocols in {@link JGroupsStack}; others name classes, or are an application's own. */
    private static boolean isKnownHeader(short number) {
        return switch (number) {
            case 52, // FRAG4
                    53, // TCPPING, DNS_PING
                    55, // GMS
                    56, // STABLE
                    59, // UFC, MFC
                    60, // TCP
                    62, // FD_ALL3
                    75, // MERGE3
                    78, // NAKACK2
                    82, // UNICAST3
                    88, // SYM_ENCRYPT
                    93, // FD_SOCK2
                    94 // VERIFY_SUSPECT2
            -> true;
            default -> false;
        };
    }

    private static void refuseIf(boolean condition, String what, int value) throws InvalidObjectException {
        if (condition) {
            throw new InvalidObjectException(what + " " + value + " is not for this channel");
        }
    }
}
