// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import org.jspecify.annotations.Nullable;

/** The versions of MQTT that the broker supports. */
public enum ProtocolVersion {
    /** MQTT 3.1, protocol name MQIsdp, level 3. */
    MQTT_3_1("MQIsdp", 3),
    /** MQTT 3.1.1, level 4. */
    MQTT_3_1_1("MQTT", 4),
    /** MQTT 5.0, level 5. */
    MQTT_5("MQTT", 5);

    private final String protocolName;
    private final int level;

    ProtocolVersion(String protocolName, int level) {
        this.protocolName = protocolName;
        this.level = level;
    }

    /**
     * The version of a CONNECT.
     *
     * @param protocolName the protocol name
     * @param level the protocol level
     * @return null if there is no such version
     */
    public static @Nullable ProtocolVersion of(String protocolName, int level) {
        for (ProtocolVersion version : values()) {
            if (version.level == level && version.protocolName.equals(protocolName)) {
                return version;
            }
        }
        return null;
    }

    /**
     * The protocol level on the wire.
     *
     * @return 3, 4 or 5
     */
    public int level() {
        return level;
    }

    /**
     * The protocol name on the wire.
     *
     * @return MQIsdp or MQTT
     */
    public String protocolName() {
        return protocolName;
    }

    /**
     * Whether packets have properties and reason codes.
     *
     * @return true for MQTT 5.0
     */
    public boolean isV5() {
        return this == MQTT_5;
    }
}
