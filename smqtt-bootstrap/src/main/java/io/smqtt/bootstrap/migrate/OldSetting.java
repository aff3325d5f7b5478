// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap.migrate;

/**
 * One key of another broker's file.
 *
 * @param key as it is written there, levels joined by dots, places in lists as {@code [0]}
 * @param value its text; empty where there is none
 * @param where file and line, such as {@code mosquitto.conf:12}
 */
record OldSetting(String key, String value, String where) {

    /** {@return the place and the key; the value may be a secret} */
    @Override
    public String toString() {
        return where + ": " + key;
    }
}
