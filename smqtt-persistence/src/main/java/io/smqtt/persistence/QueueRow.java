// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import java.util.function.LongFunction;

/**
 * The encoding of a queued message of a session. It begins with the fields that are needed to remove it: its footprint, and the number of
 * its body if that is stored separately.
 */
final class QueueRow {

    /** The number for a body in the row itself. */
    static final long INLINE = 0;

    private static final int VERSION = 1;
    private static final int QOS = 0x03;
    private static final int RETAIN = 0x04;
    private static final int APART = 0x08;
    private static final int STATE_SHIFT = 4;
    private static final StoredDelivery.State[] STATES = StoredDelivery.State.values();

    private final MessageRow messages;

    QueueRow(MessageRow messages) {
        this.messages = messages;
    }

    /**
     * Encodes a row.
     *
     * @param body the number of the body, or {@link #INLINE}
     */
    byte[] encode(StoredMessage message, StoredDelivery delivery, long body, ByteWriter row) {
        row.clear().u8(VERSION);
        row.u8(message.qos().level()
                | (message.retain() ? RETAIN : 0)
                | (body == INLINE ? 0 : APART)
                | delivery.state().ordinal() << STATE_SHIFT);
        row.number(message.message().footprintBytes());
        if (body != INLINE) {
            row.number(body);
        }
        row.number(delivery.packetId());
        row.text(message.clientFilter());
        row.number(message.identifiers().length);
        for (int identifier : message.identifiers()) {
            row.number(identifier);
        }
        if (body == INLINE) {
            messages.write(message.message(), row);
        }
        return row.toByteArray();
    }

    StoredMessage decode(long sequence, byte[] bytes, LongFunction<ApplicationMessage> bodies) {
        ByteReader row = new ByteReader(bytes);
        row.format(VERSION);
        int flags = row.u8();
        if ((flags & QOS) == QOS || flags >> STATE_SHIFT >= STATES.length) {
            throw new MalformedBytesException("a queued message has unknown flags");
        }
        row.number(Integer.MAX_VALUE);
        long body = (flags & APART) == 0 ? INLINE : row.number();
        StoredDelivery delivery = delivery(STATES[flags >> STATE_SHIFT], row.number(Integer.MAX_VALUE));
        String filter = row.text();
        int[] identifiers = identifiers(row);
        ApplicationMessage message = body == INLINE ? messages.read(row) : bodies.apply(body);
        row.requireEnd();
        return new StoredMessage(
                sequence, message, filter, QoS.of(flags & QOS), (flags & RETAIN) != 0, identifiers, delivery);
    }

    private static int[] identifiers(ByteReader row) {
        int count = row.number(Integer.MAX_VALUE);
        if (count > 0xFFFF) {
            throw new MalformedBytesException("a queued message has too many subscription identifiers");
        }
        int[] identifiers = new int[count];
        for (int i = 0; i < count; i++) {
            identifiers[i] = row.number(Integer.MAX_VALUE);
        }
        return identifiers;
    }

    /** Reads the beginning of a row. */
    static Head readHead(byte[] bytes) {
        ByteReader row = new ByteReader(bytes);
        row.format(VERSION);
        int flags = row.u8();
        int footprintBytes = row.number(Integer.MAX_VALUE);
        return new Head(footprintBytes, (flags & APART) == 0 ? INLINE : row.number(), true);
    }

    static byte[] encode(StoredDelivery delivery, ByteWriter row) {
        return row.clear()
                .u8(VERSION)
                .u8(delivery.state().ordinal())
                .number(delivery.packetId())
                .toByteArray();
    }

    static StoredDelivery decodeDelivery(byte[] bytes) {
        ByteReader row = new ByteReader(bytes);
        row.format(VERSION);
        int state = row.u8();
        if (state >= STATES.length) {
            throw new MalformedBytesException("a delivery has an unknown state");
        }
        StoredDelivery delivery = delivery(STATES[state], row.number(Integer.MAX_VALUE));
        row.requireEnd();
        return delivery;
    }

    private static StoredDelivery delivery(StoredDelivery.State state, int packetId) {
        return state == StoredDelivery.State.WAITING && packetId == 0
                ? StoredDelivery.WAITING
                : new StoredDelivery(state, packetId);
    }

    /**
     * The fields that are needed to remove a message.
     *
     * @param footprintBytes its bytes in the limits of the queue
     * @param body the number of its body, or {@link #INLINE}
     * @param mayHaveDelivery whether there may be a row with its delivery state
     */
    record Head(int footprintBytes, long body, boolean mayHaveDelivery) {}
}
