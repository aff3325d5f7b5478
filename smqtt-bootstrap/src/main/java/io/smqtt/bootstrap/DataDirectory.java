// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.StorageConfig;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The store in the data directory.
 *
 * @param store its directory
 * @param settings what it may use
 */
record DataDirectory(Path store, StoreSettings settings) {

    static DataDirectory of(StorageConfig storage) {
        return new DataDirectory(storage.dir().resolve("store"), StoreSettings.of(storage));
    }

    /** {@return the data directory} */
    Path directory() {
        return Objects.requireNonNull(store.toAbsolutePath().normalize().getParent());
    }

    /** {@return the store, made if there is none} */
    RocksBrokerStore open(StoreSettings with) {
        try {
            return RocksBrokerStore.open(store, with);
        } catch (UncheckedIOException e) {
            throw new BadDataException(String.valueOf(e.getMessage()));
        }
    }

    /** {@return the store, which must exist} */
    RocksBrokerStore openExisting(StoreSettings with) {
        requireExisting();
        return open(with);
    }

    /** Whether the replicas of a node of a cluster are beside the place of the store. */
    boolean hasReplicas() {
        return !RocksBrokerStore.exists(store) && Files.isDirectory(store.resolveSibling("replicas"));
    }

    /** Refuses to import over anything. */
    void requireEmpty() {
        if (hasReplicas()) {
            throw new BadDataException(
                    "the data directory has replicas; import into an empty one, and start the node with it");
        }
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
        return new DataDirectory(path, settings);
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
        if (hasReplicas()) {
            throw new BadDataException(store.resolveSibling("replicas")
                    + " has the replicas of a node of a cluster. Make a backup with \"smqtt data backup DIR\", whether the broker runs or not, and"
                    + " give --data DIR to this command");
        }
        if (!RocksBrokerStore.exists(store)) {
            throw new BadDataException("there is no store in " + store);
        }
    }
}
