// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.BrokerStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The part of the auto-configuration that needs smqtt-persistence. */
final class StorePart {

    private StorePart() {}

    /**
     * Opens the store in the directory {@code store} of the data directory, which is made if it is missing. Blocks.
     *
     * @throws RuntimeException if the directory cannot be used
     */
    static BrokerStore open(StorageConfig storage) {
        try {
            createPrivately(storage.dir().toAbsolutePath());
            return RocksBrokerStore.open(
                    storage.dir().resolve("store"),
                    StoreSettings.defaults()
                            .withMaxBytes(storage.maxBytes())
                            .withMemory(storage.cacheBytes(), storage.writeBufferBytes()));
        } catch (IOException | UncheckedIOException e) {
            throw new ConfigurationException("storage.dir: " + storage.dir() + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static void createPrivately(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        Files.createDirectories(directory);
        if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        }
    }
}
