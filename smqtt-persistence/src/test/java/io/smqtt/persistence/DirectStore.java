// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import io.smqtt.persistence.Operations.Kind;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.Ticker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/** The inside of a store without its threads: what the committing thread does is done by the test, step by step. */
final class DirectStore implements AutoCloseable {

    final Database database;
    final StoreClock clock;
    final Heads heads;
    final Store store;
    final QueueReader queues;
    private final LoopWriter writer;
    private @Nullable Throwable cause;
    private long position;

    /** Opens a database, and makes it if it is not there. */
    DirectStore(Path directory, StoreSettings settings) throws Exception {
        boolean fresh = !Files.exists(directory.resolve("CURRENT"));
        Files.createDirectories(directory);
        NativeLibrary.load(directory.resolveSibling("native-of-" + directory.getFileName()));
        database = new Database(directory, settings);
        database.open(fresh);
        clock = StoreClock.after(MetaRows.clock(database), Ticker.SYSTEM, new LinuxMachine());
        heads = new Heads(database);
        SessionNumbers numbers = new SessionNumbers(MetaRows.sessionNumber(database));
        DiskQuota quota = new DiskQuota(database, 0, Executors.newSingleThreadExecutor());
        store = new Store(database, clock, numbers, MetaRows.nextBody(database), quota, heads);
        queues = new QueueReader(database, clock, heads);
        writer = new LoopWriter(new Committer(store, Long.MAX_VALUE), Runnable::run, new BrokerStore.CommitListener() {
            @Override
            public void committed(long told) {
                cause = null;
            }

            @Override
            public void failed(long told, Throwable why) {
                cause = why;
            }
        });
        store.commitAlone();
        store.loadRemovals();
    }

    /** What is flushed together. */
    Operations flush(Consumer<Flush> content) {
        Operations operations = new Operations(writer, 16);
        content.accept(new Flush(operations));
        position += operations.size();
        operations.seal(position);
        return operations;
    }

    /** Commits one flush, and says why it was not kept, or null. */
    @Nullable
    Throwable commit(Consumer<Flush> content) {
        return commit(List.of(flush(content)));
    }

    /** Commits flushes together; what became of the last one. */
    @Nullable
    Throwable commit(List<Operations> flushes) {
        store.commit(new ArrayList<>(flushes), flushes.size(), 0);
        return cause;
    }

    /** Removes all rows of removed sessions. */
    void sweepAll() {
        while (store.sweep()) {
            // goes on until nothing is left
        }
    }

    StoredPage page(long session) {
        return page(session, 0, 100_000);
    }

    StoredPage page(long session, long from, int messages) {
        return queues.read(session, from, messages, Integer.MAX_VALUE);
    }

    List<Long> sequences(long session) {
        StoredPage page = page(session);
        if (page.failure() != null) {
            throw new AssertionError(page.failure());
        }
        return page.messages().stream().map(StoredMessage::sequence).toList();
    }

    /** How many rows a family has. */
    int rows(Family family) throws RocksDBException {
        return database.read(view -> {
            int rows = 0;
            for (Scan scan = view.all(family); scan.isValid(); scan.next()) {
                rows++;
            }
            return rows;
        });
    }

    static ApplicationMessage message(int payloadBytes) {
        return message(new byte[payloadBytes]);
    }

    static ApplicationMessage message(byte[] payload) {
        return ApplicationMessage.builder("t")
                .payload(Payload.of(payload))
                .qos(QoS.AT_LEAST_ONCE)
                .build();
    }

    @Override
    public void close() {
        database.close();
    }

    /** The operations that tests need. */
    record Flush(Operations operations) {

        void session(long session) {
            StoredSession header = new StoredSession(session, "client-" + session, null, 100, -1, null, -1);
            operations.add(Kind.PUT_SESSION, session, 0, header, 0);
        }

        void removeSession(long session) {
            operations.add(Kind.REMOVE_SESSION, session, 0, null, 0);
        }

        void message(long session, long sequence, ApplicationMessage message) {
            StoredMessage stored = new StoredMessage(
                    sequence, message, "t", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
            operations.add(Kind.PUT_MESSAGE, session, sequence, stored, 0);
        }

        void sent(long session, long sequence) {
            StoredDelivery sent = new StoredDelivery(StoredDelivery.State.SENT, 7);
            operations.add(Kind.PUT_DELIVERY, session, sequence, sent, 0);
        }

        /** What no row can be made of. */
        void impossible() {
            operations.add(Kind.PUT_SESSION, 1, 0, "no header", 0);
        }

        void remove(long session, long sequence) {
            operations.add(Kind.REMOVE_MESSAGE, session, sequence, null, 0);
        }

        void released(long session, int packetId) {
            operations.add(Kind.REMOVE_RECEIVED, session, packetId, null, 0);
        }

        void released(long session, int packetId, long next) {
            operations.add(Kind.PUT_RELEASED, session, packetId, next, 0);
        }
    }
}
