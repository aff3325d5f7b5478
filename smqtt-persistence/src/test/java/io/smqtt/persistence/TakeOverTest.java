// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store with one replica whose rows become those of a replica. */
class TakeOverTest {

    private static final int MESSAGES = 40;
    private static final String PAYLOAD = "x".repeat(100_000); // several batches

    @TempDir
    private Path folder;

    private Path former;
    private StoreReplica rows;
    private int failAt = Integer.MAX_VALUE;
    private int commits;
    private final CommitPath way = new CommitPath() {
        @Override
        public void commit(byte[] batch) throws IOException {
            if (++commits == failAt) {
                throw new IOException("no majority");
            }
            ReplicaPosition before = rows.position();
            rows.apply(before.behind(before.entry() + 1, before.batch() + 1), batch, 0, batch.length);
        }

        @Override
        public boolean isOpen() {
            return true;
        }
    };

    @BeforeEach
    void open() {
        former = folder.resolve("store");
        write(former);
        rows = StoreReplica.open(folder.resolve("rows"), StoreSettings.defaults());
    }

    @AfterEach
    void close() {
        rows.endLead();
        rows.close();
    }

    private static void write(Path directory) {
        try (RocksBrokerStore store = RocksBrokerStore.open(directory, StoreSettings.defaults())) {
            store.recover(new RecoveredStore());
            try (StoreLoop loop = new StoreLoop(store)) {
                put(loop, store.newSession(), "former");
            }
        }
    }

    private static void put(StoreLoop loop, long session, String client) {
        loop.commit(writer -> {
            writer.putSession(new StoredSession(
                    session, client, null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED));
            for (int i = 1; i <= MESSAGES; i++) {
                writer.putMessage(session, message(i));
            }
        });
    }

    private static StoredMessage message(int sequence) {
        ApplicationMessage message = ApplicationMessage.builder("topic")
                .payload(sequence + PAYLOAD)
                .qos(QoS.AT_LEAST_ONCE)
                .build();
        return new StoredMessage(
                sequence, message, "topic", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
    }

    private void assertTaken() {
        assertThat(former).doesNotExist();
        BrokerStore store = rows.lead(way);
        RecoveredStore found = new RecoveredStore();
        store.recover(found);
        assertThat(found.sessions().values()).singleElement().satisfies(session -> {
            assertThat(session.header().clientId()).isEqualTo("former");
            assertThat(session.waiting().messages()).isEqualTo(MESSAGES);
        });
        assertThat(store.newSession())
                .isGreaterThan(found.sessions().keySet().iterator().next());
    }

    @Test
    void allRowsAreThereAndTheDirectoryIsRenamed() {
        rows.takeOver(former, way);

        assertThat(commits).isGreaterThan(4);
        assertThat(folder.resolve("store.taken-over")).isDirectory();
        assertTaken();
    }

    @Test
    void whatWasInterruptedIsContinued() {
        failAt = 4;
        assertThatThrownBy(() -> rows.takeOver(former, way)).isInstanceOf(StoreUnusableException.class);
        assertThat(former).isDirectory();
        assertThat(rows.isLed()).isFalse();
        rows.close();
        rows = StoreReplica.open(folder.resolve("rows"), StoreSettings.defaults());

        rows.takeOver(former, way);
        assertTaken();
    }

    /** The process ended when all was there, and the directory was not renamed. */
    @Test
    void whatIsThereIsNotTakenAgain() throws IOException {
        rows.takeOver(former, way);
        Files.move(folder.resolve("store.taken-over"), former);
        int before = commits;

        rows.takeOver(former, way);
        assertThat(commits).isEqualTo(before);
        assertTaken();
    }

    @Test
    void rowsOfAnotherStoreAreRefused() {
        rows.takeOver(former, way);
        write(former);

        assertThatThrownBy(() -> rows.takeOver(former, way))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("has a store of one replica in " + former)
                .hasMessageContaining("has sessions or messages already");
        assertThat(former).isDirectory();
    }

    /** As a backup of a running node: it has rows of a replica, which do not count in the next one. */
    @Test
    void aCopyOfAReplicaIsAStore() {
        rows.takeOver(former, way);
        RocksBrokerStore store = (RocksBrokerStore) rows.lead(way);
        store.recover(new RecoveredStore());
        store.backup(folder.resolve("copy").resolve("store"));
        rows.endLead();
        rows.close();
        rows = StoreReplica.open(folder.resolve("next"), StoreSettings.defaults());

        former = folder.resolve("copy").resolve("store");
        rows.takeOver(former, way);
        assertTaken();
    }
}
