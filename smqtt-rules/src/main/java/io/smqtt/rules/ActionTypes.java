// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.spi.ActionType;
import java.util.Collection;
import java.util.List;

/** The declarations of all keys of actions, for operators: those of a type by its factory, those of all types by the schema. */
final class ActionTypes {

    private static final String COMMON = "rules.<name>.actions.<name>.";
    private static final String WORDS = "one of ";
    private static final String BOUND = " to ";
    private static final List<String> OF_THE_EDITOR = List.of("type", "enabled");

    private ActionTypes() {}

    static List<ActionType> of(Collection<SinkFactory> factories) {
        List<ActionType.Key> common = ConfigSchema.of(BrokerConfig.defaults()).describe().stream()
                .filter(key -> key.name().startsWith(COMMON))
                .filter(key -> !OF_THE_EDITOR.contains(key.name().substring(COMMON.length())))
                .map(ActionTypes::common)
                .toList();
        return factories.stream()
                .map(factory -> new ActionType(
                        factory.type(),
                        factory.settings().stream().map(ActionTypes::own).toList(),
                        common))
                .toList();
    }

    private static ActionType.Key own(SinkSetting setting) {
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

    private static ActionType.Key common(ConfigKey key) {
        int to = key.range().indexOf(BOUND);
        return new ActionType.Key(
                key.name().substring(COMMON.length()),
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
