// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.SecretMask;

/**
 * One key of another broker's file.
 *
 * @param key as it is written there, levels joined by dots, places in lists as {@code [0]}
 * @param value its text; empty where there is none
 * @param where file and line, such as {@code mosquitto.conf:12}
 */
record OldSetting(String key, String value, String where) {

    /** {@return the place of a line that no broker knows, and its key if it is followed by a value: a word alone may be anything} */
    OldSetting unknown() {
        return value.isEmpty() ? new OldSetting("a key that is not known", value, where) : this;
    }

    /** {@return the place and the key; the value may be a secret} */
    @Override
    public String toString() {
        return where + ": " + (key.startsWith("a key ") ? key : SecretMask.key(key));
    }
}
