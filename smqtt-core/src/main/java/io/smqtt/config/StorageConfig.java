// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * Where sessions and retained messages are kept: {@code smqtt.storage.*}.
 *
 * @param kind where sessions and retained messages are kept: in memory (nothing survives a restart), or on disk
 * @param dir the data directory; also --data
 * @param sync what an acknowledgement waits for: stable storage, the operating system, or nothing
 */
public record StorageConfig(
        @ConfigDoc("where sessions and retained messages are kept: in memory (nothing survives a "
                + "restart), or on disk")
        Kind kind,

        @ConfigDoc("the data directory; also --data") Path dir,

        @ConfigDoc("what an acknowledgement waits for: stable storage, the operating system, or nothing")
        Sync sync) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public StorageConfig {
        Check.present("storage.kind", kind);
        Check.present("storage.dir", dir);
        Check.present("storage.sync", sync);
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static StorageConfig defaults() {
        return new StorageConfig(Kind.MEMORY, Path.of("data"), Sync.SYNC);
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /** What keeps the data. */
    public enum Kind {
        /** Memory: nothing survives a restart. */
        MEMORY,
        /** An embedded store on disk; needs the module smqtt-persistence. */
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

        private Builder(StorageConfig from) {
            kind = from.kind;
            dir = from.dir;
            sync = from.sync;
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

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public StorageConfig build() {
            return new StorageConfig(kind, dir, sync);
        }
    }
}
