// SPDX-License-Identifier: Apache-2.0

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.MessageIds;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Fills a store without a broker: sessions that are offline, their subscriptions and messages, and retained messages. */
public final class FillStore {

    private static final int AT_ONCE = 5_000;
    private static final long ONE_DAY_SECONDS = 86_400;
    private static final int PAYLOAD_BYTES = 128;

    private FillStore() {}

    /** Arguments: directory of the store, sessions, subscriptions of each, messages for each, retained messages, and whether clients are gone. */
    public static void main(String[] args) throws Exception {
        int sessions = Integer.parseInt(args[1]);
        int subscriptions = Integer.parseInt(args[2]);
        int messages = Integer.parseInt(args[3]);
        int retained = Integer.parseInt(args[4]);
        boolean gone = Boolean.parseBoolean(args[5]); // else the store is what a crash leaves: all are connected
        ExecutorService loop = Executors.newSingleThreadExecutor();
        try (RocksBrokerStore store = RocksBrokerStore.open(Path.of(args[0]), StoreSettings.defaults())) {
            store.recover(new Nothing());
            CountDownLatch end = new CountDownLatch(1);
            Filler filler = new Filler(store, loop, end);
            loop.submit(() -> filler.fill(sessions, subscriptions, messages, retained, gone)).get();
            end.await();
        } finally {
            loop.shutdown();
        }
    }

    private static final class Filler implements BrokerStore.CommitListener {

        private final RocksBrokerStore store;
        private final StoreWriter writer;
        private final CountDownLatch end;
        private final MessageIds ids = new MessageIds();
        private volatile long last = Long.MAX_VALUE;

        Filler(RocksBrokerStore store, ExecutorService loop, CountDownLatch end) {
            this.store = store;
            this.end = end;
            this.writer = store.writer(loop, this);
        }

        void fill(int sessions, int subscriptions, int messages, int retained, boolean gone) {
            Payload payload = Payload.of(new byte[PAYLOAD_BYTES]);
            for (int i = 0; i < sessions; i++) {
                long number = store.newSession();
                long expires = gone ? store.clockMillis() + ONE_DAY_SECONDS * 1_000 : StoredSession.CONNECTED;
                writer.putSession(new StoredSession(number, "device-" + i, null, ONE_DAY_SECONDS, expires, null, -1));
                for (int j = 0; j < subscriptions; j++) {
                    String filter = "devices/" + i + "/topic/" + j;
                    writer.putSubscription(number, new StoredSubscription(filter, QoS.AT_LEAST_ONCE, false, false, 0));
                }
                for (int j = 1; j <= messages; j++) {
                    String topic = "devices/" + i + "/topic/0";
                    ApplicationMessage message = ApplicationMessage.builder(topic)
                            .payload(payload)
                            .qos(QoS.AT_LEAST_ONCE)
                            .build()
                            .accepted(ids.next(), System.nanoTime(), "filler");
                    writer.putMessage(number, new StoredMessage(
                            j, message, topic, QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING));
                }
                flush(i);
            }
            for (int i = 0; i < retained; i++) {
                writer.putRetained(ApplicationMessage.builder("retained/" + i + "/state")
                        .payload(payload)
                        .qos(QoS.AT_LEAST_ONCE)
                        .retain(true)
                        .build()
                        .accepted(ids.next(), System.nanoTime(), "filler"));
                flush(i);
            }
            writer.requireSync();
            last = writer.position();
            writer.flush();
            if (last == 0) {
                end.countDown();
            }
        }

        private void flush(int i) {
            if (i % AT_ONCE == 0 || writer.isOverloaded()) {
                writer.flush();
                while (writer.isOverloaded()) {
                    Thread.onSpinWait();
                }
            }
        }

        @Override
        public void committed(long position) {
            if (position >= last) {
                end.countDown();
            }
        }

        @Override
        public void failed(long position, Throwable cause) {
            cause.printStackTrace();
            System.exit(1);
        }
    }

    /** A store that is filled is new. */
    private static final class Nothing implements BrokerStore.RecoveryVisitor {

        @Override
        public void session(StoredSession session, StoredQueue waiting) {
            throw new IllegalStateException("the store is not empty");
        }

        @Override
        public void subscription(StoredSubscription subscription) {}

        @Override
        public void received(int packetId) {}

        @Override
        public void retained(ApplicationMessage message) {}
    }
}
