// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.Will;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.BrokerStore.CommitListener;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.test.store.StoreSamples;
import java.nio.file.Path;
import java.util.Set;

/** A store in which there is one of everything. */
final class DataSamples {

    static final String SUMMARY = "3 sessions, 3 subscriptions, 4 queued messages, 2 retained messages";

    private static final CommitListener NOBODY = new CommitListener() {
        @Override
        public void committed(long position) {}

        @Override
        public void failed(long position, Throwable cause) {
            throw new AssertionError(cause);
        }
    };

    private DataSamples() {}

    /** Makes the store of a data directory. */
    static void write(Path data) {
        try (RocksBrokerStore store = RocksBrokerStore.open(data.resolve("store"), StoreSettings.defaults())) {
            store.recover(new EmptyStore());
            StoreWriter writer = store.writer(Runnable::run, NOBODY);
            sessions(store, writer);
            writer.putRetained(StoreSamples.fullMessage(System.nanoTime(), ApplicationMessage.NEVER));
            writer.putRetained(text("retained/text", "stays"));
            writer.flush();
        }
    }

    private static void sessions(RocksBrokerStore store, StoreWriter writer) {
        long now = store.clockMillis();
        long away = store.newSession();
        Will will = new Will(StoreSamples.fullMessage(System.nanoTime(), 77), 4_294_967_295L);
        writer.putSession(new StoredSession(
                away, "döner 🥙", "anna", Set.of("cook", "café"), 7_200, now + 7_200_000, will, now + 3_600_000));
        writer.putSubscription(away, new StoredSubscription("house/#", QoS.EXACTLY_ONCE, true, false, 268_435_455));
        writer.putSubscription(away, new StoredSubscription("$share/group/a/+/b", QoS.AT_MOST_ONCE, false, true, 0));
        writer.putReceived(away, 1);
        writer.putReceived(away, 65_535);
        long acceptedNanos = System.nanoTime() - 3_000_000_000L;
        writer.putMessage(
                away, queued(3, StoreSamples.fullMessage(acceptedNanos, 600), StoredDelivery.State.RECEIVED, 9, 1, 7));
        writer.putMessage(away, queued(4, StoreSamples.fullMessage(acceptedNanos, 600), StoredDelivery.State.SENT, 10));
        writer.putMessage(away, queued(70, text("house/x", "\"line\n\u0000\u2028 ü"), StoredDelivery.State.WAITING, 0));
        long connected = store.newSession();
        writer.putSession(new StoredSession(
                connected, "connected", null, 4_294_967_295L, StoredSession.CONNECTED, will, StoredSession.CONNECTED));
        writer.putMessage(connected, queued(1, text("a", ""), StoredDelivery.State.WAITING, 0));
        long forever = store.newSession();
        writer.putSession(new StoredSession(
                forever, "forever", null, 4_294_967_295L, StoredSession.NEVER, null, StoredSession.CONNECTED));
        writer.putSubscription(forever, new StoredSubscription("+", QoS.AT_LEAST_ONCE, false, false, 1));
    }

    private static StoredMessage queued(
            long sequence, ApplicationMessage message, StoredDelivery.State state, int packetId, int... identifiers) {
        return new StoredMessage(
                sequence,
                message,
                "house/#",
                QoS.EXACTLY_ONCE,
                sequence == 4,
                identifiers,
                new StoredDelivery(state, packetId));
    }

    private static ApplicationMessage text(String topic, String payload) {
        return ApplicationMessage.builder(topic)
                .payload(payload)
                .qos(QoS.AT_LEAST_ONCE)
                .retain(true)
                .build()
                .accepted(ApplicationMessage.NO_ID, System.nanoTime(), null);
    }
}
