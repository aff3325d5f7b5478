// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Gives brokers the store in the directory {@code store} of their data directory: {@code storage.kind} {@code rocksdb}, with one replica.
 */
public final class StoreProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public StoreProvider() {}

    @Override
    public String name() {
        return "smqtt-persistence";
    }

    @Override
    public Stage stage() {
        return Stage.STORE;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return config.storage().kind() == StorageConfig.Kind.ROCKSDB
                && config.storage().replicas() == 1;
    }

    /** Refuses a directory that was written with several replicas: a start would find nothing in it. */
    @Override
    public void check(BrokerConfig config) {
        Path dir = config.storage().dir();
        if (Files.isDirectory(dir.resolve("replicas"))) {
            throw new ConfigurationException(
                    "storage.replicas",
                    "is 1, but " + dir.toAbsolutePath()
                            + " was written with several replicas. \"smqtt data backup DIR\" makes a data directory for one");
        }
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        check(config);
        StorageConfig storage = config.storage();
        return builder ->
                builder.store(RocksBrokerStore.open(storage.dir().resolve("store"), StoreSettings.of(storage)));
    }
}
