// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.StoreFigures;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an observer is told of the store. */
class ObservedStoreTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    private final List<Commit> commits = new CopyOnWriteArrayList<>();
    private final List<Boolean> rounds = new CopyOnWriteArrayList<>();
    private final List<StoreFigures> figures = new CopyOnWriteArrayList<>();
    private final BrokerObserver observer = new BrokerObserver() {
        @Override
        public void storeCommitted(int operations, long bytes, long nanos, boolean kept) {
            commits.add(new Commit(operations, bytes, nanos, kept));
        }

        @Override
        public void storeWorking(boolean working) {
            rounds.add(working);
        }

        @Override
        public void storeMeasured(StoreFigures measured) {
            figures.add(measured);
        }
    };

    private record Commit(int operations, long bytes, long nanos, boolean kept) {}

    private RocksBrokerStore open() {
        return RocksBrokerStore.open(directory.resolve("store"), StoreSettings.defaults());
    }

    private static StoredSession session(long number) {
        return new StoredSession(
                number, "client-" + number, null, 60, StoredSession.CONNECTED, null, StoredSession.CONNECTED);
    }

    private StoreFigures latest() {
        return figures.get(figures.size() - 1);
    }

    @Test
    void eachBatchIsToldWithItsSizeAndTime() {
        try (RocksBrokerStore store = open()) {
            store.observe(observer);
            store.recover(new RecoveredStore());
            StoreLoop loop = new StoreLoop(store);

            loop.commit(writer -> {
                writer.putSession(session(store.newSession()));
                writer.putRetained(ApplicationMessage.builder("a")
                        .payload("x".repeat(5_000))
                        .build());
                writer.requireSync();
            });
            loop.close();
        }

        assertThat(commits).singleElement().satisfies(commit -> {
            assertThat(commit.operations()).isEqualTo(2);
            assertThat(commit.bytes()).isGreaterThan(5_000);
            assertThat(commit.nanos()).isPositive();
            assertThat(commit.kept()).isTrue();
        });
        assertThat(rounds).as("each begins and ends").hasSizeGreaterThanOrEqualTo(2);
        for (int i = 0; i < rounds.size(); i++) {
            assertThat(rounds.get(i)).isEqualTo(i % 2 == 0);
        }
        assertThat(rounds.get(rounds.size() - 1)).isFalse();
    }

    @Tag("slow")
    @Test
    void figuresAreToldAllTheTime() {
        try (RocksBrokerStore store = open()) {
            store.observe(observer);
            store.recover(new RecoveredStore());
            StoreLoop loop = new StoreLoop(store);
            for (int i = 0; i < 200; i++) {
                String topic = "topic/" + i;
                loop.commit(writer -> writer.putRetained(ApplicationMessage.builder(topic)
                        .payload("x".repeat(10_000))
                        .build()));
            }
            await().atMost(PATIENCE).until(() -> !figures.isEmpty() && latest().submittedBytes() > 2_000_000);

            StoreFigures last = latest();
            assertThat(last.healthy()).isTrue();
            assertThat(last.queuedBytes()).isZero();
            assertThat(last.diskBytes()).isPositive();
            assertThat(last.writtenBytes()).isGreaterThanOrEqualTo(last.submittedBytes()); // the log, at least
            assertThat(last.writeAmplification())
                    .isCloseTo((double) last.writtenBytes() / last.submittedBytes(), within(0.001));
            int told = figures.size();
            await().atMost(PATIENCE).until(() -> figures.size() > told);
            StoreStatistics statistics = store.statistics();
            assertThat(statistics.commits()).isEqualTo(200);
            assertThat(statistics.operations()).isEqualTo(200);
            assertThat(statistics.writtenBytes()).isGreaterThanOrEqualTo(last.writtenBytes());
            loop.close();
        }
    }

    @Test
    void whatIsPutTogetherAnewCountsAsWritten() throws Exception {
        Database database = new Database(directory.resolve("db"), StoreSettings.defaults());
        database.open(true);
        for (int i = 0; i < 2_000; i++) {
            byte[] row = new byte[1_000];
            new Random(i).nextBytes(row);
            database.write(Change.all(List.of(new Change(Family.RETAINED, Keys.number(i), row))), false);
        }
        long log = database.writtenBytes();

        database.compact();

        assertThat(log).isBetween(2_000_000L, 2_200_000L);
        assertThat(database.submittedBytes()).isBetween(2_000_000L, log);
        assertThat(database.writtenBytes()).isGreaterThan(2 * log - 200_000);
        long before = database.writtenBytes();
        database.open(false);
        assertThat(database.writtenBytes()).as("goes on").isGreaterThanOrEqualTo(before);
        database.close();
    }

    @Test
    void failingObserverStopsNothing() {
        try (RocksBrokerStore store = open()) {
            store.observe(new BrokerObserver() {
                @Override
                public void storeCommitted(int operations, long bytes, long nanos, boolean kept) {
                    throw new IllegalStateException("not this time");
                }
            });
            store.recover(new RecoveredStore());
            StoreLoop loop = new StoreLoop(store);
            loop.commit(writer -> writer.putReceived(1, 1));
            loop.commit(writer -> writer.putReceived(1, 2));
            loop.close();
            assertThat(store.isHealthy()).isTrue();
        }
    }

    @Test
    void brokerPassesItsObserverOn() {
        ListenerConfig listener =
                ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        Broker broker = Broker.builder()
                .config(BrokerConfig.builder()
                        .listeners(Map.of("tcp", listener))
                        .build())
                .store(open())
                .observer(observer)
                .start()
                .block();
        assertThat(broker).isNotNull();
        ApplicationMessage message = ApplicationMessage.builder("a")
                .payload("kept")
                .qos(QoS.AT_LEAST_ONCE)
                .retain(true)
                .build();

        broker.publish(message).block(PATIENCE);

        await().atMost(PATIENCE).until(() -> !commits.isEmpty());
        assertThat(commits.get(0).operations()).isPositive();
        broker.close(Duration.ofSeconds(1)).block(PATIENCE);
    }
}
