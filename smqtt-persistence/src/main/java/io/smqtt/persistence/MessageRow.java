// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.bytes.MessageBytes;
import io.smqtt.bytes.NameCache;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of an application message: its format, its time of acceptance, and {@link MessageBytes}. The time is in the store's clock,
 * because the broker's clock starts again with each run.
 */
final class MessageRow {

    private static final int FORMAT = 4;

    /** Formats of earlier programs, without and with an identifier. 3 is the format of another row, see {@link RetainedRow}. */
    private static final int FIRST = 1;

    private static final int SECOND = 2;

    private static final int QOS = 0x03;
    private static final int RETAIN = 0x04;
    private static final int EXPIRES = 0x08;
    private static final int PUBLISHER = 0x10;

    private static final int NAMES = 1_024;

    private final StoreClock clock;
    private final NameCache names = new NameCache(NAMES);

    MessageRow(StoreClock clock) {
        this.clock = clock;
    }

    void write(ApplicationMessage message, ByteWriter row) {
        row.u8(FORMAT).signed(clock.millisAt(message.acceptedAtNanos()));
        MessageBytes.write(row, message, message.expiryIntervalSeconds(), List.of(), 0);
    }

    ApplicationMessage read(ByteReader row) {
        int format = row.format(FIRST, SECOND, FORMAT);
        if (format != FORMAT) {
            return readEarlier(row, format == SECOND);
        }
        long acceptedAtNanos = clock.nanosAt(row.signed());
        return MessageBytes.read(row, row.u8(), acceptedAtNanos, names, new ArrayList<>(0));
    }

    private ApplicationMessage readEarlier(ByteReader row, boolean hasId) {
        int flags = row.u8();
        if ((flags & QOS) == QOS || flags > 0x1F) {
            throw new MalformedBytesException("a message has unknown flags");
        }
        long id = hasId ? row.i64() : ApplicationMessage.NO_ID;
        long acceptedAtNanos = clock.nanosAt(row.signed());
        long expiry = (flags & EXPIRES) == 0 ? ApplicationMessage.NEVER : row.number();
        @Nullable String publisher = (flags & PUBLISHER) == 0 ? null : row.text();
        TopicName topic = topic(row.byteArray());
        PublishProperties properties = PublishProperties.ofEncoded(row.byteArray());
        Payload payload = row.payload();
        QoS qos = QoS.of(flags & QOS);
        return new ApplicationMessage(
                id, topic, payload, qos, (flags & RETAIN) != 0, properties, expiry, acceptedAtNanos, publisher);
    }

    private static TopicName topic(byte[] utf8) {
        try {
            return TopicName.ofUtf8(utf8);
        } catch (InvalidTopicException e) {
            throw new MalformedBytesException("a message has no valid topic");
        }
    }
}
