// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

/** Quality of service (MQTT 5.0, section 4.3). */
public enum QoS {
    /** At most once: QoS 0. */
    AT_MOST_ONCE,
    /** At least once: QoS 1. */
    AT_LEAST_ONCE,
    /** Exactly once: QoS 2. */
    EXACTLY_ONCE;

    private static final QoS[] VALUES = values();

    /**
     * The level for a number on the wire.
     *
     * @param level 0, 1 or 2
     * @return the level
     * @throws ArrayIndexOutOfBoundsException for another number
     */
    public static QoS of(int level) {
        return VALUES[level];
    }

    /**
     * The number on the wire.
     *
     * @return 0, 1 or 2
     */
    public int level() {
        return ordinal();
    }

    /**
     * The lower of two levels, as a delivery uses it (MQTT 5.0, section 3.8.4).
     *
     * @param other another level
     * @return the lower one
     */
    public QoS atMost(QoS other) {
        return ordinal() <= other.ordinal() ? this : other;
    }
}
