// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * Where sessions and retained messages are kept: {@code smqtt.storage.*}.
 *
 * @param kind in memory, or on disk
 * @param dir the data directory
 * @param sync what an acknowledgement waits for
 */
public record StorageConfig(
        Kind kind,
        Path dir,
        Sync sync) {

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static StorageConfig defaults() {
        return new StorageConfig(
                Kind.MEMORY,
                Path.of("data"),
                Sync.SYNC);
    }

    /** What keeps the data. */
    public enum Kind {
        /** Memory: nothing survives a restart. */
        MEMORY,
        /** An embedded store on disk. */
        ROCKSDB
    }

    /** What an acknowledgement waits for. */
    public enum Sync {
        /** The data is on stable storage. */
        SYNC,
        /** The operating system has the data. */
        ASYNC,
        /** Nothing. */
        NONE
    }
}
