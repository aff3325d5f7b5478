// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.admin.InvalidFieldException;
import io.smqtt.config.SecretMask;
import io.smqtt.spi.ActionType;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Masks the values of keys of actions and sources: as their types declare them, and otherwise by their names. Immutable.
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
    static ActionMask of(List<ActionType> types) {
        Set<String> secrets = new HashSet<>();
        Set<String> plain = new HashSet<>();
        for (ActionType type : types) {
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

    /**
     * Puts the former text of a key in the place of one that is given as it was shown, so that a masked secret stays as it was.
     *
     * @param keys the given texts by key, which are changed
     * @param shown how the former text was shown
     * @param former the former text; null if the key had none
     * @throws InvalidFieldException if the given text has a mask, but is not the shown one
     */
    static void keep(Map<String, String> keys, String key, String shown, @Nullable String former) {
        String given = keys.get(key);
        if (shown.equals(given)) {
            keys.put(key, former == null ? shown : former);
        } else if (given != null && shown.contains(SecretMask.MASK) && given.contains(SecretMask.MASK)) {
            throw new InvalidFieldException(
                    key + " must be given whole, a mask in it stands for no secret once the text changes");
        }
    }

    /**
     * Requires that no mask is left where a secret must be.
     *
     * @throws InvalidFieldException if a text is a mask
     */
    static void requireSecrets(Map<String, String> keys) {
        keys.forEach((key, text) -> {
            if (text.equals(SecretMask.MASK)) {
                throw new InvalidFieldException(
                        "the secret " + key + " must be given, its mask stands for no former one");
            }
        });
    }
}
