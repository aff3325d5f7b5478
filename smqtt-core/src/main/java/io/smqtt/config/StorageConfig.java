// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * Storage of sessions and retained messages: {@code smqtt.storage.*}.
 *
 * @param kind where sessions and retained messages are kept: in memory (nothing survives a restart), or on disk
 * @param dir the data directory; also --data
 * @param sync what an acknowledgement waits for: stable storage, the operating system, or nothing
 * @param maxBytes bytes on disk past which nothing new is stored; 0 for no limit
 * @param cacheBytes memory for what was read from disk
 * @param writeBufferBytes memory for what is not yet in table files
 */
public record StorageConfig(
        @ConfigDoc(
                "where sessions and retained messages are stored: in memory, where nothing survives a restart, or on "
                        + "disk")
        Kind kind,

        @ConfigDoc("the data directory; also --data") Path dir,

        @ConfigDoc("what an acknowledgement waits for: stable storage, the operating system, or nothing")
        Sync sync,

        @ConfigDoc(
                value =
                        "maximum size on disk. Past it nothing new is stored (0x97) until something is removed; 0 for no "
                                + "limit",
                min = "0",
                max = "1024TiB")
        long maxBytes,

        @ConfigDoc(value = "memory outside the heap that caches reads from disk", min = "1MiB", max = "1TiB")
        long cacheBytes,

        @ConfigDoc(
                value = "memory outside the heap for data that is not yet in table files; more makes writing cheaper",
                min = "1MiB",
                max = "16GiB")
        long writeBufferBytes) {

    private static final long MIB = 1L << 20;

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public StorageConfig {
        Check.present("storage.kind", kind);
        Check.present("storage.dir", dir);
        Check.present("storage.sync", sync);
        Check.range("storage.max-bytes", maxBytes, 0, MIB << 30);
        Check.range("storage.cache-bytes", cacheBytes, MIB, MIB << 20);
        Check.range("storage.write-buffer-bytes", writeBufferBytes, MIB, MIB << 14);
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static StorageConfig defaults() {
        return new StorageConfig(Kind.MEMORY, Path.of("data"), Sync.SYNC, 0, 8 * MIB, 16 * MIB);
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static Builder builder() {
        return defaults().toBuilder();
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
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link StorageConfig}. Not safe for several threads. */
    public static final class Builder {

        private Kind kind;
        private Path dir;
        private Sync sync;
        private long maxBytes;
        private long cacheBytes;
        private long writeBufferBytes;

        private Builder(StorageConfig from) {
            kind = from.kind;
            dir = from.dir;
            sync = from.sync;
            maxBytes = from.maxBytes;
            cacheBytes = from.cacheBytes;
            writeBufferBytes = from.writeBufferBytes;
        }

        /** {@return this, with {@link StorageConfig#kind()} set to the argument} */
        public Builder kind(Kind value) {
            kind = value;
            return this;
        }

        /** {@return this, with {@link StorageConfig#dir()} set to the argument} */
        public Builder dir(Path value) {
            dir = value;
            return this;
        }

        /** {@return this, with {@link StorageConfig#sync()} set to the argument} */
        public Builder sync(Sync value) {
            sync = value;
            return this;
        }

        /** {@return this, with {@link StorageConfig#maxBytes()} set to the argument} */
        public Builder maxBytes(long value) {
            maxBytes = value;
            return this;
        }

        /** {@return this, with {@link StorageConfig#cacheBytes()} set to the argument} */
        public Builder cacheBytes(long value) {
            cacheBytes = value;
            return this;
        }

        /** {@return this, with {@link StorageConfig#writeBufferBytes()} set to the argument} */
        public Builder writeBufferBytes(long value) {
            writeBufferBytes = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public StorageConfig build() {
            return new StorageConfig(kind, dir, sync, maxBytes, cacheBytes, writeBufferBytes);
        }
    }
}
