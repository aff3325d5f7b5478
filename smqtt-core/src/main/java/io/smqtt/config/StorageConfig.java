// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * Storage of sessions and retained messages: {@code smqtt.storage.*}.
 *
 * @param kind where sessions and retained messages are stored: in memory, where nothing survives a restart, or on
 *     disk
 * @param dir the data directory; also --data
 * @param sync what an acknowledgement waits for: stable storage, the operating system, or nothing
 * @param maxBytes maximum size on disk. Past it nothing new is stored (0x97) until something is removed; 0 for no
 *     limit
 * @param cacheBytes memory outside the heap that caches reads from disk
 * @param writeBufferBytes memory outside the heap for data that is not yet in table files; more makes writing
 *     cheaper
 * @param replicas number of nodes that store each session, its messages and this node's retained messages: 1 for this node only; 3 or 5 for an
 *     acknowledgement that waits for a majority of them. Needs the module smqtt-replication and {@code cluster.nodes}
 * @param adoption with replicas only: whether other nodes serve the sessions of a node that is away. The same on all nodes
 */
@ConfigBlock("storage")
public record StorageConfig(
        @Setting("memory") Kind kind,
        @Setting("data") Path dir,
        @Setting("sync") Sync sync,
        @Setting(value = "0", min = "0", max = "1024TiB") long maxBytes,
        @Setting(value = "8MiB", min = "1MiB", max = "1TiB") long cacheBytes,

        @Setting(value = "16MiB", min = "1MiB", max = "16GiB")
        long writeBufferBytes,

        @Setting(value = "1", min = "1", max = "5") int replicas,
        @Setting("true") boolean adoption) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public StorageConfig {
        Check.that(
                replicas % 2 == 1,
                "storage.replicas",
                "must be 1, 3 or 5, not " + replicas
                        + ": one more node than an odd number makes no larger minority safe");
        Check.that(replicas == 1 || kind == Kind.ROCKSDB, "storage.replicas", "needs storage.kind rocksdb");
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static StorageConfig defaults() {
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static StorageConfigBuilder builder() {
        return new StorageConfigBuilder();
    }

    /** The kind of store. */
    public enum Kind {
        /** Memory: nothing survives a restart. */
        MEMORY,
        /** An embedded store on disk; needs the module smqtt-persistence. */
        ROCKSDB
    }

    /** The durability that an acknowledgement waits for. */
    public enum Sync {
        /** The data is on stable storage. */
        SYNC,
        /** The operating system has the data. */
        ASYNC,
        /** Nothing. */
        NONE
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public StorageConfigBuilder toBuilder() {
        return new StorageConfigBuilder(this);
    }
}
