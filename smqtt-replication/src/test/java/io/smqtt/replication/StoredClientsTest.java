// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.persistence.StoreReplica;
import io.smqtt.session.UnservedStores.Lookup;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The clients of a store that no node serves. */
class StoredClientsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Lookup FOUND = new Lookup(true, "a");

    private final AtomicLong position = new AtomicLong(1);
    private final AtomicInteger reads = new AtomicInteger();
    private volatile boolean fails;
    private volatile String added = "";
    private final StoredClients clients = new StoredClients(() -> "a", this::visit, position::get);

    private void visit(StoreReplica.ClientVisitor visitor) {
        reads.incrementAndGet();
        if (fails) {
            throw new IllegalStateException("the rows are closed");
        }
        visitor.client("lasts", Long.MAX_VALUE);
        visitor.client("ends later", 3_600_000);
        visitor.client("has ended", 0);
        visitor.client("twice", 3_600_000);
        visitor.client("twice", -1);
        visitor.client(added, Long.MAX_VALUE);
    }

    private Lookup found(String clientId) {
        return await().atMost(PATIENCE).until(() -> clients.find(clientId), Lookup::isComplete);
    }

    @Test
    void rowsAreReadOnceUntilTheyChange() {
        assertThat(clients.find("lasts")).isEqualTo(Lookup.UNKNOWN);
        assertThat(found("lasts")).isEqualTo(FOUND);
        assertThat(found("ends later")).isEqualTo(FOUND);
        assertThat(found("twice")).isEqualTo(FOUND);
        assertThat(found("has ended")).isEqualTo(Lookup.NOTHING);
        assertThat(found("new")).isEqualTo(Lookup.NOTHING);
        assertThat(reads).hasValue(1);

        added = "new";
        position.set(2);
        assertThat(clients.find("new")).isEqualTo(Lookup.UNKNOWN);
        assertThat(found("new")).isEqualTo(FOUND);
        assertThat(reads).hasValue(2);
    }

    @Test
    void aServedStoreIsForgotten() {
        assertThat(found("lasts")).isEqualTo(FOUND);
        clients.forget();
        assertThat(clients.find("lasts")).isEqualTo(Lookup.UNKNOWN);
        assertThat(found("lasts")).isEqualTo(FOUND);
        assertThat(reads).hasValue(2);
    }

    @Test
    void rowsThatCannotBeReadAreNotTakenForNone() {
        fails = true;
        assertThat(clients.find("lasts")).isEqualTo(Lookup.UNKNOWN);
        await().atMost(PATIENCE).until(() -> reads.get() == 1);
        assertThat(clients.find("lasts")).isEqualTo(Lookup.UNKNOWN);
        fails = false;
        assertThat(found("lasts")).isEqualTo(FOUND);
    }
}
