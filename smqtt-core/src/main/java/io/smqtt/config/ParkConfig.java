// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/**
 * Messages that are kept for an unreachable node: {@code smqtt.cluster.park.*}.
 *
 * @param maxBytes maximum size of the QoS 1 and 2 messages that are kept for one unreachable node. With {@code
 *     storage.max-bytes} at most a quarter of that; without a store at most 16 MiB
 * @param overflow what happens past max-bytes: the oldest messages for the node are dropped, or new ones are refused
 *     (0x97; MQTT 3.1.1 publishers wait)
 */
@ConfigBlock("cluster.park")
public record ParkConfig(
        @Setting(value = "1GiB", min = "64KiB", max = "1024TiB")
        long maxBytes,

        @Setting("drop-oldest") Overflow overflow) {

    /** The action at the limit. */
    public enum Overflow {
        /** The oldest messages are dropped and counted. */
        DROP_OLDEST,
        /** New messages are refused. */
        REFUSE
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static ParkConfig defaults() {
        return builder().build();
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static ParkConfigBuilder builder() {
        return new ParkConfigBuilder();
    }

    /**
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public ParkConfigBuilder toBuilder() {
        return new ParkConfigBuilder(this);
    }
}
