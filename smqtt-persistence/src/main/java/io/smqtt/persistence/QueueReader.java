// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Reads messages of sessions. It begins at the first message of the session's tail, never at removed rows: iterating over those takes
 * longer with each message that was delivered.
 */
final class QueueReader {

    private final Database database;
    private final MessageRow messages;
    private final QueueRow queues;
    private final Heads heads;

    QueueReader(Database database, StoreClock clock, Heads heads) {
        this.database = database;
        this.heads = heads;
        this.messages = new MessageRow(clock);
        this.queues = new QueueRow(messages);
    }

    StoredPage read(long session, long fromSequence, int maxMessages, int maxBytes) {
        try {
            long seen = heads.removals();
            return new StoredPage(
                    database.read(view -> page(view, seen, session, fromSequence, maxMessages, maxBytes)), null);
        } catch (RocksDBException e) {
            return new StoredPage(List.of(), Damage.orFailure(e, database.directory()));
        } catch (MalformedBytesException e) {
            return new StoredPage(List.of(), Damage.of(e, database.directory()));
        } catch (RuntimeException | OutOfMemoryError e) { // on any failure the reader waits for an answer
            return new StoredPage(List.of(), e);
        }
    }

    /** Reads a page from a view; {@code seen} is the value of {@link Heads#removals} before. */
    List<StoredMessage> page(View view, long seen, long session, long fromSequence, int maxMessages, int maxBytes)
            throws RocksDBException {
        return new Page(view, seen, maxMessages, maxBytes).read(session, fromSequence);
    }

    /** One page of messages. */
    private final class Page {

        private final View view;
        private final long seen;
        private final int maxMessages;
        private final int maxBytes;
        private final List<StoredMessage> page = new ArrayList<>();
        private long bytes;
        private long lastBody = QueueRow.INLINE;
        private @Nullable ApplicationMessage lastMessage;

        Page(View view, long seen, int maxMessages, int maxBytes) {
            this.view = view;
            this.seen = seen;
            this.maxMessages = maxMessages;
            this.maxBytes = maxBytes;
        }

        List<StoredMessage> read(long session, long fromSequence) throws RocksDBException {
            byte[] row = view.get(Family.TAIL, Keys.number(session));
            Tail tail = row == null ? new Tail() : Tail.decode(row);
            if (tail.isEmpty()) {
                return page;
            }
            byte[] from = Keys.message(session, Math.max(fromSequence, tail.first()));
            byte[] end = Keys.number(session + 1);
            Scan rows = view.range(Family.QUEUE, from, end);
            Scan deliveries = view.range(Family.DELIVERY, from, end);
            for (; rows.isValid() && !isFull(); rows.next()) {
                long sequence = Keys.sequence(rows.key());
                try {
                    byte[] bytes = rows.value();
                    StoredMessage message = queues.decode(sequence, bytes, this::body);
                    heads.putRead(session, sequence, QueueRow.readHead(bytes), seen);
                    add(withDelivery(message, deliveryOf(sequence, deliveries)));
                } catch (MalformedBytesException e) {
                    throw Damage.of(e, database.directory(), session, sequence);
                }
            }
            return page;
        }

        private boolean isFull() {
            return page.size() >= maxMessages || bytes >= maxBytes;
        }

        private void add(StoredMessage message) {
            int footprintBytes = message.message().footprintBytes();
            if (page.isEmpty() || bytes + footprintBytes <= maxBytes) {
                page.add(message);
            }
            bytes += footprintBytes;
        }

        private @Nullable StoredDelivery deliveryOf(long sequence, Scan deliveries) throws RocksDBException {
            while (deliveries.isValid() && Keys.sequence(deliveries.key()) < sequence) {
                deliveries.next();
            }
            return deliveries.isValid() && Keys.sequence(deliveries.key()) == sequence
                    ? QueueRow.decodeDelivery(deliveries.value())
                    : null;
        }

        private ApplicationMessage body(long number) {
            ApplicationMessage last = lastMessage;
            if (last == null || lastBody != number) {
                last = load(number);
                lastMessage = last;
                lastBody = number;
            }
            return last;
        }

        private ApplicationMessage load(long number) {
            byte[] row;
            try {
                row = view.get(Family.BODY, Keys.number(number));
            } catch (RocksDBException e) {
                throw Damage.orFailure(Damage.rowOrFailure(e), database.directory());
            }
            if (row == null) {
                throw new MalformedBytesException("the body of a message is missing");
            }
            return messages.read(new ByteReader(row));
        }
    }

    private static StoredMessage withDelivery(StoredMessage message, @Nullable StoredDelivery delivery) {
        return delivery == null
                ? message
                : new StoredMessage(
                        message.sequence(),
                        message.message(),
                        message.clientFilter(),
                        message.qos(),
                        message.retain(),
                        message.identifiers(),
                        delivery);
    }
}
