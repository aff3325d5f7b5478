// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.StorageConfig;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The store in the data directory.
 *
 * @param store its directory
 * @param settings what it may use
 * @param configured whether the broker is to use it
 */
record DataDirectory(Path store, StoreSettings settings, boolean configured) {

    static DataDirectory of(StorageConfig storage) {
        StoreSettings settings = StoreSettings.defaults()
                .withMaxBytes(storage.maxBytes())
                .withMemory(storage.cacheBytes(), storage.writeBufferBytes());
        return new DataDirectory(
                storage.dir().resolve("store"), settings, storage.kind() == StorageConfig.Kind.ROCKSDB);
    }

    /** {@return the store of a broker, or null if it keeps all in memory} */
    @Nullable
    RocksBrokerStore openIfConfigured() {
        return configured ? RocksBrokerStore.open(store, settings) : null;
    }

    /** {@return the store, which must exist} */
    RocksBrokerStore openExisting(StoreSettings with) {
        requireExisting();
        return RocksBrokerStore.open(store, with);
    }

    void requireExisting() {
        if (!RocksBrokerStore.exists(store)) {
            throw new BadDataException("there is no store in " + store);
        }
    }
}
