// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of an application message. Its time of acceptance is in the store's clock, because the broker's clock starts again with
 * each run.
 */
final class MessageRow {

    /** Of a message without an identifier: earlier programs wrote all messages so. */
    private static final int ANONYMOUS = 1;

    private static final int WITH_ID = 2;
    private static final int QOS = 0x03;
    private static final int RETAIN = 0x04;
    private static final int EXPIRES = 0x08;
    private static final int PUBLISHER = 0x10;

    private final StoreClock clock;

    MessageRow(StoreClock clock) {
        this.clock = clock;
    }

    void write(ApplicationMessage message, RowWriter row) {
        boolean expires = message.expiryIntervalSeconds() != ApplicationMessage.NEVER;
        String publisher = message.publisherId();
        boolean hasId = message.id() != ApplicationMessage.NO_ID;
        row.putByte(hasId ? WITH_ID : ANONYMOUS);
        row.putByte(message.qos().level()
                | (message.retain() ? RETAIN : 0)
                | (expires ? EXPIRES : 0)
                | (publisher == null ? 0 : PUBLISHER));
        if (hasId) {
            row.putLong(message.id());
        }
        row.putSigned(clock.millisAt(message.acceptedAtNanos()));
        if (expires) {
            row.putNumber(message.expiryIntervalSeconds());
        }
        if (publisher != null) {
            row.putText(publisher);
        }
        row.putBytes(message.topic().utf8());
        row.putProperties(message.properties());
        row.putPayload(message.payload());
    }

    ApplicationMessage read(RowReader row) {
        boolean hasId = row.requireVersion(ANONYMOUS, WITH_ID) == WITH_ID;
        int flags = row.readByte();
        if ((flags & QOS) == QOS || flags > 0x1F) {
            throw new DamagedRowException("a message has unknown flags");
        }
        long id = hasId ? row.readLong() : ApplicationMessage.NO_ID;
        long acceptedAtNanos = clock.nanosAt(row.readSigned());
        long expiry = (flags & EXPIRES) == 0 ? ApplicationMessage.NEVER : row.readNumber();
        @Nullable String publisher = (flags & PUBLISHER) == 0 ? null : row.readText();
        TopicName topic = topic(row.readBytes());
        PublishProperties properties = row.readProperties();
        Payload payload = row.readPayload();
        QoS qos = QoS.of(flags & QOS);
        return new ApplicationMessage(
                id, topic, payload, qos, (flags & RETAIN) != 0, properties, expiry, acceptedAtNanos, publisher);
    }

    private static TopicName topic(byte[] utf8) {
        try {
            return TopicName.ofUtf8(utf8);
        } catch (InvalidTopicException e) {
            throw new DamagedRowException("a message has no valid topic");
        }
    }
}
