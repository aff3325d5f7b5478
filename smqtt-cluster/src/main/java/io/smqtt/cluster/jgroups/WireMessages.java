// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.io.InvalidObjectException;
import org.jgroups.Address;
import org.jgroups.BaseMessage;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Header;
import org.jgroups.LongMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.TP;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.dns.DNS_PING;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
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
 * Decodes messages of the channel. The channel's own decoder creates whatever a peer sends: objects by Java serialization, and classes by
 * their names. This class accepts only what the protocols of {@link JGroupsStack} send, and refuses everything else before it is read,
 * including lengths beyond the frame ({@link WireGrammar}).
 */
@AnyThread
final class WireMessages {

    /** The maximum size of a frame: messages are split into fragments of 60 KB, and bundles have 64 KB. */
    static final int MAXIMUM_BYTES = 128 * 1024;

    /** Flags, a type, no address, no header. */
    private static final int MINIMUM_MESSAGE_BYTES = 7;

    private static final int HEADER_BYTES = 2 * Short.BYTES;
    private static final int MAXIMUM_HEADERS = 16;

    private static final int DESTINATION = 1;
    private static final int SOURCE = 2;

    private static final short DIGEST = 9;
    private static final short MUTABLE_DIGEST = 10;
    private static final short SEQUENCE_NUMBERS = 15;

    private static final int PROTOCOLS = 1_024;
    private static final short[] HEADER_CLASSES = headerClasses();

    private WireMessages() {}

    /** Reads one message with its type. */
    static Message read(ByteArrayDataInputStream in, WireProfile profile) throws IOException, ClassNotFoundException {
        return readInto(create(in.readShort()), in, profile);
    }

    /** Reads one message with its type, and checks that nothing follows. */
    static Message read(byte[] bytes) throws IOException, ClassNotFoundException {
        return read(new ByteArrayDataInputStream(bytes), WireProfile.CLUSTER);
    }

    /**
     * Reads messages of one sender to one receiver.
     *
     * @return two batches, null if empty: messages that keep their order, and messages that overtake others
     */
    static @Nullable MessageBatch[] readBatch(ByteArrayDataInputStream in, boolean multicast, WireProfile profile)
            throws IOException, ClassNotFoundException {
        var to = address(in, profile);
        var from = address(in, profile);
        byte[] cluster = bytes(in, in.readShort());
        AsciiString name = cluster == null ? null : new AsciiString(cluster);
        int count = in.readInt();
        WireGrammar.refuseIf(count < 0 || count > in.available() / MINIMUM_MESSAGE_BYTES, "count of messages", count);
        MessageBatch[] batches = new MessageBatch[2];
        for (int i = 0; i < count; i++) {
            short type = in.readShort();
            BaseMessage message = create(type);
            message.setDest(to).setSrc(from);
            readInto(message, in, profile);
            boolean overtakes = message.isFlagSet(Message.Flag.OOB);
            int index = overtakes ? 1 : 0;
            if (batches[index] == null) {
                MessageBatch.Mode mode = overtakes ? MessageBatch.Mode.OOB : MessageBatch.Mode.REG;
                batches[index] = new MessageBatch(to, from, name, multicast, mode, count - i);
            }
            batches[index].add(message);
        }
        return batches;
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

    private static Message readInto(BaseMessage message, ByteArrayDataInputStream in, WireProfile profile)
            throws IOException, ClassNotFoundException {
        byte leading = in.readByte();
        message.setFlag(in.readShort(), false);
        if ((leading & DESTINATION) != 0) {
            message.setDest(address(in, profile));
        }
        if ((leading & SOURCE) != 0) {
            message.setSrc(address(in, profile));
        }
        Header[] headers = headers(in, profile);
        message.headers(headers);
        // With this flag the bytes are a serialized object, which protocols would deserialize.
        boolean bySerialization = message.isFlagSet(Message.Flag.SERIALIZED);
        WireGrammar.refuseIf(bySerialization, "flags", Message.Flag.SERIALIZED.value());
        switch (message.getType()) {
            case Message.BYTES_MSG -> {
                byte[] payload = bytes(in, in.readInt());
                if (payload != null) {
                    for (Header header : headers) {
                        if (header != null) {
                            WireGrammar.payload(header, payload, profile);
                        }
                    }
                    message.setArray(payload, 0, payload.length);
                }
            }
            case Message.OBJ_MSG -> ((ObjectMessage) message).setObject(object(in, profile));
            default -> message.readPayload(in);
        }
        return message;
    }

    private static @Nullable Address address(ByteArrayDataInputStream in, WireProfile profile)
            throws IOException, ClassNotFoundException {
        WireGrammar.address(in, profile);
        return Util.readAddress(in);
    }

    private static byte @Nullable [] bytes(ByteArrayDataInputStream in, int length) throws IOException {
        if (length < 0) {
            return null;
        }
        WireGrammar.refuseIf(length > in.available(), "length", length);
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    /** Reads the content of stability messages and of requests for lost ones; never a class by its name. */
    private static @Nullable SizeStreamable object(ByteArrayDataInputStream in, WireProfile profile)
            throws IOException, ClassNotFoundException {
        if (in.readByte() == 0) {
            return null;
        }
        short number = in.readShort();
        SizeStreamable object = switch (number) {
            case DIGEST, MUTABLE_DIGEST -> {
                WireGrammar.digest(in, profile);
                yield number == DIGEST ? new Digest() : new MutableDigest();
            }
            case SEQUENCE_NUMBERS -> {
                WireGrammar.sequenceNumbers(in);
                yield new SeqnoList();
            }
            default -> throw new InvalidObjectException("an object of class " + number + " is not for this channel");
        };
        object.readFrom(in);
        return object;
    }

    private static @Nullable Header[] headers(ByteArrayDataInputStream in, WireProfile profile)
            throws IOException, ClassNotFoundException {
        int count = in.readShort();
        WireGrammar.refuseIf(
                count < 0 || count > MAXIMUM_HEADERS || count > in.available() / HEADER_BYTES,
                "count of headers",
                count);
        Header[] headers = new Header[count == 0 ? Util.DEFAULT_HEADERS : count];
        for (int i = 0; i < count; i++) {
            short protocol = in.readShort();
            short number = in.readShort();
            WireGrammar.refuseIf(
                    !isKnownHeader(protocol, number) && !profile.isKnownHeader(protocol, number),
                    "header of class",
                    number);
            WireGrammar.header(number, in, profile);
            Header header = ClassConfigurator.create(number);
            header.readFrom(in);
            headers[i] = header.setProtId(protocol);
        }
        return headers;
    }

    /**
     * The header class by the number of a protocol in {@link JGroupsStack}, 0 if there is none. Other headers name classes, or belong to
     * applications.
     */
    private static short[] headerClasses() {
        short[] classes = new short[PROTOCOLS];
        classes[ClassConfigurator.getProtocolId(FRAG4.class)] = 52;
        classes[ClassConfigurator.getProtocolId(TCPPING.class)] = 53;
        classes[ClassConfigurator.getProtocolId(DNS_PING.class)] = 53;
        classes[ClassConfigurator.getProtocolId(GMS.class)] = 55;
        classes[ClassConfigurator.getProtocolId(STABLE.class)] = 56;
        classes[ClassConfigurator.getProtocolId(UFC.class)] = 59;
        classes[ClassConfigurator.getProtocolId(MFC.class)] = 59;
        classes[ClassConfigurator.getProtocolId(TP.class)] = 60;
        classes[ClassConfigurator.getProtocolId(FD_ALL3.class)] = 62;
        classes[ClassConfigurator.getProtocolId(MERGE3.class)] = 75;
        classes[ClassConfigurator.getProtocolId(NAKACK2.class)] = 78;
        classes[ClassConfigurator.getProtocolId(UNICAST3.class)] = 82;
        classes[ClassConfigurator.getProtocolId(VERIFY_SUSPECT2.class)] = 94;
        return classes;
    }

    private static boolean isKnownHeader(short protocol, short number) {
        return number > 0 && protocol >= 0 && protocol < PROTOCOLS && HEADER_CLASSES[protocol] == number;
    }
}
