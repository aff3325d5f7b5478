// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteWriter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import org.jspecify.annotations.Nullable;

/** Encodes rows, with one buffer for all of them. */
@OnCommittingThread
final class Encoding {

    private final ByteWriter row = new ByteWriter(512);
    private final MessageRow messages;
    private final SessionRow sessions;
    private final QueueRow queues;
    private final RetainedRow retained;
    private long nextBody;

    Encoding(StoreClock clock, long nextBody) {
        messages = new MessageRow(clock);
        sessions = new SessionRow(messages);
        queues = new QueueRow(messages);
        retained = new RetainedRow(messages);
        this.nextBody = nextBody;
    }

    long nextBody() {
        return nextBody++;
    }

    byte[] message(ApplicationMessage message) {
        messages.write(message, row.clear());
        return row.toByteArray();
    }

    byte[] retained(ApplicationMessage message, @Nullable RetainedVersion version) {
        return retained.encode(message, version, row);
    }

    byte[] retainedRemoval(RetainedVersion version) {
        return RetainedRow.encodeRemoval(version, row);
    }

    byte[] session(StoredSession session) {
        return sessions.encode(session, row);
    }

    byte[] subscription(StoredSubscription subscription) {
        return SessionRow.encode(subscription, row);
    }

    byte[] queued(StoredMessage message, StoredDelivery delivery, long body) {
        return queues.encode(message, delivery, body, row);
    }

    byte[] delivery(StoredDelivery delivery) {
        return QueueRow.encode(delivery, row);
    }

    byte[] tail(Tail tail) {
        return tail.encode(row);
    }

    byte[] number(long number) {
        return row.clear().number(number).toByteArray();
    }
}
