// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.config.ConfigurationException;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The JSON form of one kind of rules, with EMQX's names.
 *
 * @param <T> the configuration of one rule
 */
interface RuleFields<T> {

    /**
     * Reads a rule.
     *
     * @throws InvalidFieldException if it is none; names the field
     * @throws ConfigurationException if it is none; names the key
     */
    T read(JsonFields fields);

    /** Writes a rule: texts and numbers. */
    Map<String, Object> write(T rule);

    /** The name by which rules are told apart; empty if their order alone does that. */
    default String name(T rule) {
        return "";
    }

    /** The name of the field for a part of a key. */
    default String field(String key) {
        return key.replace('-', '_');
    }

    /**
     * Tests a rule that is new. Takes time: not for event loops.
     *
     * @throws ConfigurationException if it cannot be used; names the key
     */
    default void test(T rule) {}

    /**
     * Reads a rule.
     *
     * @param isNew whether it is tested too
     * @throws InvalidFieldException if it is none, or cannot be used; names the field
     */
    default T checked(JsonFields fields, boolean isNew) {
        try {
            T rule = read(fields);
            if (isNew) {
                test(rule);
            }
            return rule;
        } catch (ConfigurationException e) {
            String key = Objects.requireNonNullElse(e.key(), "");
            String name = field(key.substring(key.lastIndexOf('.') + 1));
            String problem = String.valueOf(e.getMessage()).substring(key.length());
            throw new InvalidFieldException("the field " + name + problem);
        }
    }

    /** A constant in lower case. */
    static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
