// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import io.smqtt.spi.ActionType;
import java.util.List;

/** The keys of types of sinks and sources as operators and their forms see them: those of a type by its declaration, those of all types by the schema. */
public final class TypeKeys {

    private static final String WORDS = "one of ";
    private static final String BOUND = " to ";

    /** Keys that each form has. */
    private static final List<String> OF_THE_EDITOR = List.of("type", "enabled");

    private TypeKeys() {}

    /**
     * The keys that a type declares.
     *
     * @param settings the declarations
     * @return the keys, in the same order
     */
    public static List<ActionType.Key> of(List<SinkSetting> settings) {
        return settings.stream().map(TypeKeys::of).toList();
    }

    private static ActionType.Key of(SinkSetting setting) {
        return new ActionType.Key(
                setting.name(),
                ActionType.Form.valueOf(setting.kind().name()),
                setting.value(),
                setting.min(),
                setting.max(),
                setting.text(),
                setting.isRequired(),
                setting.isSecret(),
                setting.isPlain(),
                setting.choices());
    }

    /**
     * The keys that all types have, but for {@code type} and {@code enabled}.
     *
     * @param block the block of the schema with a dot at its end, such as {@code sources.<name>.}
     * @return the keys, in the order of the schema
     */
    public static List<ActionType.Key> common(String block) {
        return ConfigSchema.of(BrokerConfig.defaults()).describe().stream()
                .filter(key -> key.name().startsWith(block))
                .filter(key -> !OF_THE_EDITOR.contains(key.name().substring(block.length())))
                .map(key -> common(key, block))
                .toList();
    }

    private static ActionType.Key common(ConfigKey key, String block) {
        int to = key.range().indexOf(BOUND);
        return new ActionType.Key(
                key.name().substring(block.length()),
                form(key.type()),
                key.defaultText(),
                to < 0 ? "" : key.range().substring(0, to),
                to < 0 ? "" : key.range().substring(to + BOUND.length()),
                key.doc(),
                key.required(),
                key.secret(),
                false,
                key.type().startsWith(WORDS)
                        ? List.of(key.type().substring(WORDS.length()).split(", ", -1))
                        : List.of());
    }

    private static ActionType.Form form(String type) {
        if (type.startsWith(WORDS)) {
            return ActionType.Form.CHOICE;
        } else if (type.contains("duration")) {
            return ActionType.Form.DURATION;
        } else if (type.contains("size")) {
            return ActionType.Form.SIZE;
        } else if (type.contains("true or false")) {
            return ActionType.Form.FLAG;
        }
        return type.contains("integer") ? ActionType.Form.NUMBER : ActionType.Form.TEXT;
    }
}
