// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.test.store.RecoveredStore;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the store: messages of 200 bytes into the queues of 10,000 sessions from two loops, in flushes of a size, with
 * or without syncing; then all of them read and removed. Arguments: messages, messages per flush, sync or async,
 * directory.
 */
final class StoreBenchmark {

    private static final int SESSIONS = 10_000;
    private static final int LOOPS = 2;
    private static final int FLUSHES_AHEAD = 64;

    private StoreBenchmark() {}

    public static void main(String[] args) throws Exception {
        int messages = Integer.parseInt(args[0]);
        int perFlush = Integer.parseInt(args[1]);
        boolean sync = args[2].equals("sync");
        Path directory = Path.of(args[3]);
        LiveCopy.delete(directory);
        try (RocksBrokerStore store = RocksBrokerStore.open(directory, StoreSettings.defaults())) {
            store.recover(new RecoveredStore());
            enqueue(store, messages / 10, perFlush, sync, 1); // warm up
            StoreStatistics before = store.statistics();
            report("enqueue", messages, enqueue(store, messages, perFlush, sync, 1_000_000));
            report("commits", before, store.statistics());
            report("read and remove", messages, drain(store, messages));
        }
        System.out.printf(Locale.ROOT, "disk %.1f MB%n", bytes(directory) / 1e6);
    }

    private static long bytes(Path directory) {
        return StoreFolder.bytesOf(directory.resolve("db"));
    }

    private static void report(String what, int messages, long nanos) {
        System.out.printf(Locale.ROOT, "%s: %,.0f messages/s (%.2f s)%n", what, messages * 1e9 / nanos, nanos / 1e9);
    }

    private static void report(String what, StoreStatistics before, StoreStatistics after) {
        long commits = after.commits() - before.commits();
        System.out.printf(
                Locale.ROOT,
                "%s: %d, of %.0f operations, %.2f ms each%n",
                what,
                commits,
                (double) (after.operations() - before.operations()) / commits,
                (after.commitNanos() - before.commitNanos()) / 1e6 / commits);
    }

    private static long enqueue(BrokerStore store, int messages, int perFlush, boolean sync, long firstSequence)
            throws InterruptedException {
        byte[] payload = new byte[200];
        new java.util.Random(1).nextBytes(payload);
        long began = System.nanoTime();
        run(store, messages / perFlush, perFlush, sync, (writer, flush) -> {
            for (int i = 0; i < perFlush; i++) {
                long n = flush * perFlush + i;
                ApplicationMessage message = ApplicationMessage.builder("plant/line/" + n % SESSIONS)
                        .payload(Payload.of(payload))
                        .qos(QoS.AT_LEAST_ONCE)
                        .build();
                long sequence = firstSequence + n / SESSIONS;
                writer.putMessage(
                        n % SESSIONS + 1,
                        new StoredMessage(
                                sequence,
                                message,
                                "plant/line/+",
                                QoS.AT_LEAST_ONCE,
                                false,
                                new int[0],
                                StoredDelivery.WAITING));
            }
        });
        return System.nanoTime() - began;
    }

    private static long drain(BrokerStore store, int messages) throws InterruptedException {
        long began = System.nanoTime();
        int sessions = Math.min(SESSIONS, messages);
        CountDownLatch read = new CountDownLatch(sessions);
        ExecutorService loop = Executors.newSingleThreadExecutor();
        AtomicLong found = new AtomicLong();
        StoreWriter[] writer = new StoreWriter[1];
        writer[0] = store.writer(loop, new Committed(new Semaphore(0), 1));
        for (int session = 1; session <= sessions; session++) {
            int number = session;
            store.read(session, 0, 1_000_000, 100 << 20, loop, page -> {
                found.addAndGet(page.messages().size());
                page.messages().forEach(message -> writer[0].removeMessage(number, message.sequence()));
                writer[0].flush();
                read.countDown();
            });
        }
        read.await();
        CountDownLatch last = new CountDownLatch(1);
        store.read(1, 0, 1, 1, loop, page -> last.countDown());
        last.await();
        loop.shutdown();
        System.out.println("found " + found.get() + " messages, warm-up included");
        return System.nanoTime() - began;
    }

    private static void run(BrokerStore store, long flushes, int perFlush, boolean sync, Work work)
            throws InterruptedException {
        CountDownLatch done = new CountDownLatch(LOOPS);
        AtomicLong next = new AtomicLong();
        for (int i = 0; i < LOOPS; i++) {
            Semaphore ahead = new Semaphore(FLUSHES_AHEAD);
            Thread driver = new Thread(() -> {
                ExecutorService told = Executors.newSingleThreadExecutor();
                StoreWriter writer = store.writer(told, new Committed(ahead, perFlush));
                for (long flush = next.getAndIncrement(); flush < flushes; flush = next.getAndIncrement()) {
                    ahead.acquireUninterruptibly();
                    work.add(writer, flush);
                    if (sync) {
                        writer.requireSync();
                    }
                    writer.flush();
                }
                ahead.acquireUninterruptibly(FLUSHES_AHEAD);
                told.shutdown();
                done.countDown();
            });
            driver.start();
        }
        done.await();
    }

    private interface Work {
        void add(StoreWriter writer, long flush);
    }

    /** Lets the driver go on for each flush that is committed. */
    private static final class Committed implements BrokerStore.CommitListener {

        private final Semaphore ahead;
        private final int perFlush;
        private long position;

        Committed(Semaphore ahead, int perFlush) {
            this.ahead = ahead;
            this.perFlush = perFlush;
        }

        @Override
        public void committed(long newPosition) {
            ahead.release((int) ((newPosition - position) / perFlush));
            position = newPosition;
        }

        @Override
        public void failed(long newPosition, Throwable cause) {
            throw new IllegalStateException(cause);
        }
    }
}
