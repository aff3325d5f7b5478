// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.SecretMask;

/**
 * One key of another broker's file.
 *
 * @param key the key as in the file, levels joined by dots, list indexes as {@code [0]}
 * @param value its value; empty if there is none
 * @param where file and line, such as {@code mosquitto.conf:12}
 */
record OldSetting(String key, String value, String where) {

    /** {@return the position of an unknown line, and its key if it has a value, because a single word may be a secret} */
    OldSetting unknown() {
        return value.isEmpty() ? new OldSetting("a key that is not known", value, where) : this;
    }

    /** {@return the position and the key, without the value, which may be a secret} */
    @Override
    public String toString() {
        return where + ": " + (key.startsWith("a key ") ? key : SecretMask.key(key));
    }
}
