// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store over a replica whose batches cannot be committed for a while. */
class ReplicaWithoutMajorityTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    private Path folder;

    private final Majority majority = new Majority();
    private StoreReplica rows;
    private BrokerStore store;

    @BeforeEach
    void open() {
        rows = StoreReplica.open(folder, StoreSettings.defaults());
        store = rows.lead(majority);
        store.recover(new RecoveredStore());
    }

    @AfterEach
    void close() {
        store.close();
        rows.close();
    }

    private static StoredSession session() {
        return new StoredSession(1, "client", null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED);
    }

    private static StoredMessage message(int sequence) {
        ApplicationMessage message = ApplicationMessage.builder("topic")
                .payload("payload " + sequence)
                .qos(QoS.AT_LEAST_ONCE)
                .build();
        return new StoredMessage(
                sequence, message, "topic", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
    }

    private RecoveredStore reopened() {
        store.close();
        store = rows.lead(majority);
        RecoveredStore found = new RecoveredStore();
        store.recover(found);
        return found;
    }

    private void fail(StoreLoop loop, int sequence, Outcome outcome) {
        majority.outcome = outcome;
        long position = loop.flush(writer -> writer.putMessage(1, message(sequence)));
        loop.awaitTold(position);
        assertThat(loop.safe()).isLessThan(position);
        assertThat(store.isHealthy()).isFalse();
    }

    private void comeBack() {
        majority.outcome = Outcome.COMMITTED;
        await().atMost(PATIENCE).until(store::isHealthy);
    }

    @Test
    void aBatchThatWasCommittedAfterItsFailureIsUndone() {
        try (StoreLoop loop = new StoreLoop(store)) {
            loop.commit(writer -> {
                writer.putSession(session());
                writer.putMessage(1, message(1));
            });
            fail(loop, 2, Outcome.COMMITTED_AND_UNKNOWN);
            comeBack();
            loop.commit(writer -> writer.putMessage(1, message(3)));
        }

        RecoveredStore found = reopened();
        assertThat(found.sessions().get(1L).waiting().messages()).isEqualTo(2);
    }

    @Test
    void aRemovalThatFailedIsRepeated() {
        try (StoreLoop loop = new StoreLoop(store)) {
            loop.commit(writer -> {
                writer.putSession(session());
                writer.putMessage(1, message(1));
                writer.putMessage(1, message(2));
            });
            majority.outcome = Outcome.LOST;
            loop.awaitTold(loop.flush(writer -> writer.removeMessage(1, 1)));
            comeBack();
        }

        assertThat(reopened().sessions().get(1L).waiting().messages()).isEqualTo(1);
    }

    @Test
    void withoutAMajorityAllIsRefusedAtOnce() {
        try (StoreLoop loop = new StoreLoop(store)) {
            loop.commit(writer -> writer.putSession(session()));
            fail(loop, 1, Outcome.LOST);
            int asked = majority.asked;
            fail(loop, 2, Outcome.LOST);
            assertThat(majority.asked).isEqualTo(asked);
            comeBack();
            loop.commit(writer -> writer.putMessage(1, message(3)));
        }

        assertThat(reopened().sessions().get(1L).waiting().messages()).isEqualTo(1);
    }

    private enum Outcome {
        COMMITTED,
        COMMITTED_AND_UNKNOWN,
        LOST
    }

    /** The others. */
    private final class Majority implements CommitPath {

        private volatile Outcome outcome = Outcome.COMMITTED;
        private volatile int asked;

        @Override
        public boolean isOpen() {
            return outcome == Outcome.COMMITTED;
        }

        @Override
        public void commit(byte[] batch) throws IOException {
            Outcome now = outcome;
            asked++;
            if (now != Outcome.LOST) {
                ReplicaPosition before = rows.position();
                rows.apply(before.behind(before.entry() + 1, before.batch() + 1), batch, 0, batch.length);
            }
            if (now != Outcome.COMMITTED) {
                throw new IOException("no majority");
            }
        }
    }
}
