// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.store.RecoveredStore;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Numbers its flushes 1, 2, 3 … and stores each number in several places at once: a message for one of ten sessions, a
 * retained message, and every tenth time a large message for two sessions. Message n is removed by flush n + 400. As a
 * program of its own it says on standard output which numbers are safe; whoever kills it can hold the store to that.
 */
final class CommitJournal {

    static final int SESSIONS = 10;
    static final int KEPT = 400;

    /** What a line of output begins with that says that all up to a number is safe. */
    static final String SAFE = "safe ";

    private CommitJournal() {}

    /** Arguments: directory, payload bytes, sync or async. Runs until it is killed. */
    public static void main(String[] args) throws InterruptedException {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true);
        StoreSettings settings = StoreSettings.defaults().withMemory(1 << 20, 2 << 20);
        RocksBrokerStore store = RocksBrokerStore.open(Path.of(args[0]), settings);
        RecoveredStore recovered = new RecoveredStore();
        store.recover(recovered);
        ExecutorService loop = Executors.newSingleThreadExecutor();
        long first = last(recovered) + 1;
        java.util.concurrent.Semaphore ahead = new java.util.concurrent.Semaphore(500);
        Numbers numbers = new Numbers(first, number -> {
            out.println(SAFE + number);
            ahead.release(Math.max(0, 500 - ahead.availablePermits()));
        });
        StoreWriter writer = store.writer(loop, numbers);
        byte[] payload = new byte[Integer.parseInt(args[1])];
        out.println("ready");
        for (long number = first; ; number++) {
            ahead.acquire();
            long next = number;
            loop.execute(() -> {
                write(writer, next, payload);
                if (args[2].equals("sync")) {
                    writer.requireSync();
                }
                numbers.flushed(next, writer.position());
                writer.flush();
            });
        }
    }

    /** The operations of one flush. */
    static void write(StoreWriter writer, long number, byte[] payload) {
        long session = number % SESSIONS + 1;
        if (number <= SESSIONS) {
            writer.putSession(new StoredSession(session, "client-" + session, null, 100, -1, null, -1));
        }
        writer.putMessage(session, queued(number, message("m/" + number, payload)));
        if (number % SESSIONS == 0) {
            ApplicationMessage shared = message("shared/" + number, new byte[2_000]);
            writer.putMessage(2, queued(Long.MAX_VALUE / 2 + number, shared));
            writer.putMessage(3, queued(Long.MAX_VALUE / 2 + number, shared));
        }
        writer.putRetained(message("number", Long.toString(number).getBytes()));
        long old = number - KEPT;
        if (old > 0) {
            writer.removeMessage(old % SESSIONS + 1, old);
            if (old % SESSIONS == 0) {
                writer.removeMessage(2, Long.MAX_VALUE / 2 + old);
                writer.removeMessage(3, Long.MAX_VALUE / 2 + old);
            }
        }
    }

    private static ApplicationMessage message(String topic, byte[] payload) {
        return ApplicationMessage.builder(topic)
                .payload(Payload.of(payload))
                .qos(QoS.AT_LEAST_ONCE)
                .build();
    }

    private static StoredMessage queued(long sequence, ApplicationMessage message) {
        return new StoredMessage(
                sequence, message, "m/+", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
    }

    /** The number of the last flush that is in a store. */
    static long last(RecoveredStore recovered) {
        ApplicationMessage number = recovered.retained().get("number");
        return number == null ? 0 : Long.parseLong(number.payload().asString());
    }

    /**
     * Checks that a store holds what flushes 1 to n leave, for some n, and nothing else.
     *
     * @return n
     * @throws AssertionError if something is missing in the middle, or there is more
     * @throws io.smqtt.spi.StoreDamagedException if the store says that it is damaged
     */
    static long requireWhole(RocksBrokerStore store) {
        RecoveredStore recovered = new RecoveredStore();
        store.recover(recovered);
        long last = last(recovered);
        ExecutorService loop = Executors.newSingleThreadExecutor();
        try {
            for (long session = 1; session <= SESSIONS; session++) {
                List<Long> expected = expected(session, last);
                List<Long> found = sequences(store, session, loop);
                if (!found.equals(expected)) {
                    throw new AssertionError("session " + session + " after flush " + last + " holds " + found
                            + " instead of " + expected);
                }
                if (last >= SESSIONS && recovered.session(session).waiting().messages() != expected.size()) {
                    throw new AssertionError("session " + session + " counts wrong");
                }
            }
        } finally {
            loop.shutdown();
        }
        return last;
    }

    private static List<Long> expected(long session, long last) {
        List<Long> expected = new ArrayList<>();
        List<Long> shared = new ArrayList<>();
        for (long number = Math.max(1, last - KEPT + 1); number <= last; number++) {
            if (number % SESSIONS + 1 == session) {
                expected.add(number);
            }
            if (number % SESSIONS == 0 && (session == 2 || session == 3)) {
                shared.add(Long.MAX_VALUE / 2 + number);
            }
        }
        expected.addAll(shared);
        return expected;
    }

    private static List<Long> sequences(RocksBrokerStore store, long session, ExecutorService loop) {
        CompletableFuture<StoredPage> answer = new CompletableFuture<>();
        store.read(session, 0, 1_000_000, Integer.MAX_VALUE, loop, answer::complete);
        StoredPage page = answer.join();
        if (page.failure() instanceof RuntimeException failure) {
            throw failure;
        }
        return page.messages().stream().map(StoredMessage::sequence).toList();
    }

    /** Turns positions into numbers of flushes. */
    static final class Numbers implements BrokerStore.CommitListener {

        private final java.util.Queue<long[]> flushed = new java.util.concurrent.ConcurrentLinkedQueue<>();
        private final java.util.function.LongConsumer safe;
        private long last;

        Numbers(long first, java.util.function.LongConsumer safe) {
            this.last = first - 1;
            this.safe = safe;
        }

        void flushed(long number, long position) {
            flushed.add(new long[] {number, position});
        }

        @Override
        public void committed(long position) {
            for (long[] next = flushed.peek(); next != null && next[1] <= position; next = flushed.peek()) {
                last = next[0];
                flushed.remove();
            }
            safe.accept(last);
        }

        @Override
        public void failed(long position, Throwable cause) {
            throw new IllegalStateException(cause);
        }
    }
}
