// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.config.StorageConfig;
import io.smqtt.spi.Ticker;

/**
 * Settings of a {@link RocksBrokerStore}.
 *
 * @param maxBytes bytes on disk past which only removals are accepted; 0 for no limit
 * @param cacheBytes memory for blocks read from disk
 * @param writeBufferBytes memory for data that is committed and not yet in table files
 * @param maxQueuedBytes bytes waiting for the disk past which {@link io.smqtt.spi.StoreWriter#isOverloaded()} is true
 * @param verifyBytes table files are read whole and verified at the start as long as they are not larger than this
 *     together; damage in larger stores is found when it is read
 * @param ticker the broker's monotonic clock, which messages carry
 */
public record StoreSettings(
        long maxBytes, long cacheBytes, long writeBufferBytes, long maxQueuedBytes, long verifyBytes, Ticker ticker) {

    private static final long MIB = 1L << 20;

    /** Checks the values. */
    public StoreSettings {
        if (maxBytes < 0 || cacheBytes < 0 || writeBufferBytes < MIB || maxQueuedBytes < 0 || verifyBytes < 0) {
            throw new IllegalArgumentException(
                    "sizes of a store must not be negative, and its write buffer 1 MiB at least");
        }
    }

    /**
     * Small: 8 MiB of cache, 16 MiB of write buffers, 16 MiB waiting, no limit on disk.
     *
     * @return settings for a broker with the system's clock
     */
    public static StoreSettings defaults() {
        return new StoreSettings(0, 8 * MIB, 16 * MIB, 16 * MIB, 256 * MIB, Ticker.SYSTEM);
    }

    /**
     * Those of a configuration.
     *
     * @param storage the block {@code storage} of the configuration
     * @return defaults for what it does not say
     */
    public static StoreSettings of(StorageConfig storage) {
        return defaults().withMaxBytes(storage.maxBytes()).withMemory(storage.cacheBytes(), storage.writeBufferBytes());
    }

    /**
     * Limits the disk.
     *
     * @param bytes 0 for no limit
     * @return changed settings
     */
    public StoreSettings withMaxBytes(long bytes) {
        return new StoreSettings(bytes, cacheBytes, writeBufferBytes, maxQueuedBytes, verifyBytes, ticker);
    }

    /**
     * Sets the memory.
     *
     * @param cache bytes for blocks read from disk
     * @param writeBuffers bytes for data that is not yet in table files
     * @return changed settings
     */
    public StoreSettings withMemory(long cache, long writeBuffers) {
        return new StoreSettings(maxBytes, cache, writeBuffers, maxQueuedBytes, verifyBytes, ticker);
    }

    /**
     * Sets how much may wait for the disk before publishers are slowed.
     *
     * @param bytes of operations
     * @return changed settings
     */
    public StoreSettings withMaxQueuedBytes(long bytes) {
        return new StoreSettings(maxBytes, cacheBytes, writeBufferBytes, bytes, verifyBytes, ticker);
    }

    /**
     * Sets up to which size the store is read whole and verified at the start.
     *
     * @param bytes 0 for never
     * @return changed settings
     */
    public StoreSettings withVerifyBytes(long bytes) {
        return new StoreSettings(maxBytes, cacheBytes, writeBufferBytes, maxQueuedBytes, bytes, ticker);
    }

    /**
     * Sets the broker's clock; it must be the one that the broker is built with.
     *
     * @param clock a monotonic clock
     * @return changed settings
     */
    public StoreSettings withTicker(Ticker clock) {
        return new StoreSettings(maxBytes, cacheBytes, writeBufferBytes, maxQueuedBytes, verifyBytes, clock);
    }
}
