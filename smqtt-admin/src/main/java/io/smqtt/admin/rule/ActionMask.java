// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.config.SecretMask;
import io.smqtt.spi.ActionType;
import io.smqtt.spi.Rules;
import java.util.HashSet;
import java.util.Set;

/**
 * Masks the values of keys of actions: as their types declare them, and otherwise by their names. Immutable.
 *
 * @param secrets the keys that are secrets, of all types together
 * @param plain {@code type/key} of those that are none, whatever their names suggest
 */
record ActionMask(Set<String> secrets, Set<String> plain) {

    /** Judges by names only. */
    static final ActionMask BY_NAME = new ActionMask(Set.of(), Set.of());

    /** Copies the sets. */
    ActionMask {
        secrets = Set.copyOf(secrets);
        plain = Set.copyOf(plain);
    }

    /** The declarations of the types that are present. */
    static ActionMask of(Rules rules) {
        Set<String> secrets = new HashSet<>();
        Set<String> plain = new HashSet<>();
        for (ActionType type : rules.types()) {
            for (ActionType.Key key : type.keys()) {
                if (key.isSecret()) {
                    secrets.add(key.name());
                } else if (key.isPlain()) {
                    plain.add(type.name() + '/' + key.name());
                }
            }
        }
        return new ActionMask(secrets, plain);
    }

    /** The text of a key as it may be shown. */
    String shown(String type, String name, String text) {
        if (secrets.contains(name)) {
            return SecretMask.MASK;
        }
        return plain.contains(type + '/' + name) ? SecretMask.text(text) : SecretMask.value(name, text);
    }
}
