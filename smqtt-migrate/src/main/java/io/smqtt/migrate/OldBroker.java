// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

/** The brokers whose files can be read. */
public enum OldBroker {
    /** The broker of the same name of the years 2021 to 2023, and its successor smqttx: YAML or properties. */
    smqtt,
    /** Eclipse mosquitto, of version 2: {@code mosquitto.conf}. */
    mosquitto,
    /** Moquette: {@code moquette.conf}. */
    moquette,
    /** EMQX, of version 5: {@code emqx.conf}. */
    emqx
}
