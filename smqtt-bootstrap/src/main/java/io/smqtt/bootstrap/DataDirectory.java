// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.StorageConfig;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.stream.Stream;
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
        return configured ? open(settings) : null;
    }

    /** {@return the store, made if there is none} */
    RocksBrokerStore open(StoreSettings with) {
        try {
            createPrivately(store.toAbsolutePath().getParent());
            return RocksBrokerStore.open(store, with);
        } catch (UncheckedIOException e) {
            throw new BadDataException(String.valueOf(e.getMessage()));
        }
    }

    /** For its owner only; one that exists stays as it is, and the store in it is its owner's in any case. */
    private static void createPrivately(@Nullable Path directory) {
        if (directory == null || Files.isDirectory(directory)) {
            return;
        }
        try {
            Files.createDirectories(directory);
            if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
            }
        } catch (IOException e) {
            throw StoreUnusableException.of(directory, e);
        }
    }

    /** {@return the store, which must exist} */
    RocksBrokerStore openExisting(StoreSettings with) {
        requireExisting();
        return open(with);
    }

    /** Refuses to import over anything. */
    void requireEmpty() {
        if (RocksBrokerStore.exists(store)) {
            try (RocksBrokerStore existing = open(settings)) {
                existing.recover(new EmptyStore());
            }
        }
    }

    /** {@return a place beside the store, for one that is not complete yet; what an earlier import left there is gone} */
    DataDirectory beside() throws IOException {
        Path path = store.resolveSibling("store.importing");
        deleteAll(path);
        return new DataDirectory(path, settings, configured);
    }

    /** Moves this store, which nobody has open, to the place of an empty one. */
    void replace(DataDirectory empty) throws IOException {
        empty.requireEmpty();
        deleteAll(empty.store);
        Files.move(store, empty.store, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Deletes a directory with all that is in it, if it is there. */
    static void deleteAll(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    void requireExisting() {
        if (!RocksBrokerStore.exists(store)) {
            throw new BadDataException("there is no store in " + store);
        }
    }
}
