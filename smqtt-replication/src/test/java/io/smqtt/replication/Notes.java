// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.persistence.CommitPath;
import io.smqtt.persistence.ReplicaPosition;
import io.smqtt.persistence.StoreReplica;
import io.smqtt.spi.BrokerStore;
import io.smqtt.test.store.RecoveredStore;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** Batches of a store with one row each, a note, as the committing thread encodes them. */
final class Notes {

    private Notes() {}

    /** The rows of a batch that sets a note. */
    static byte[] batch(String name, String value) {
        try (WriteBatch rows = new WriteBatch()) {
            rows.put(bytes("note/" + name), bytes(value)); // the first column family has the notes
            return rows.data();
        } catch (RocksDBException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** All notes in the rows of a replica, which has no store over them. */
    static Map<String, String> in(StoreReplica rows) {
        CommitPath alone = new CommitPath() {
            @Override
            public void commit(byte[] batch) {
                ReplicaPosition before = rows.position();
                rows.apply(before.behind(before.entry(), before.batch()), batch, 0, batch.length);
            }

            @Override
            public boolean isOpen() {
                return true;
            }
        };
        Map<String, String> notes = new TreeMap<>();
        try (BrokerStore store = rows.lead(alone)) {
            RecoveredStore found = new RecoveredStore();
            store.recover(found);
            found.notes().forEach((name, note) -> notes.put(name, new String(note, StandardCharsets.UTF_8)));
        }
        rows.endLead();
        return notes;
    }
}
