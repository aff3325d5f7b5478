// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.TypeKeys;
import io.smqtt.spi.ActionType;
import java.util.Collection;
import java.util.List;

/** The declarations of all keys of actions, for operators. */
final class ActionTypes {

    private static final String COMMON = "rules.<name>.actions.<name>.";

    private ActionTypes() {}

    static List<ActionType> of(Collection<SinkFactory> factories) {
        List<ActionType.Key> common = TypeKeys.common(COMMON);
        return factories.stream()
                .map(factory -> new ActionType(factory.type(), TypeKeys.of(factory.settings()), common))
                .toList();
    }
}
