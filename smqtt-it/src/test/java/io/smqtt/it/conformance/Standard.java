// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import java.util.Optional;

/** A version of the standard; the same rule has different numbers in each, so a tag in a source names its version. */
enum Standard {
    /** MQTT 5.0, tagged {@code MQTT-} in sources. */
    V5("5.0", "MQTT"),
    /** MQTT 3.1.1, tagged {@code MQTT311-} in sources. */
    V311("3.1.1", "MQTT311");

    private final String version;
    private final String prefix;

    Standard(String version, String prefix) {
        this.version = version;
        this.prefix = prefix;
    }

    static Optional<Standard> ofPrefix(String prefix) {
        for (Standard standard : values()) {
            if (standard.prefix.equals(prefix)) {
                return Optional.of(standard);
            }
        }
        return Optional.empty();
    }

    /** The version as people write it. */
    String version() {
        return version;
    }

    /** What a source writes to name a statement of this version, without brackets. */
    String sourceTag(String number) {
        return prefix + "-" + number;
    }
}
