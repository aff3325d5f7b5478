// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicName;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The topic aliases of messages to a client, valid for one connection [MQTT-3.1.2-26]. The first topics get the aliases and keep
 * them: this saves bytes for a client with few topics, and costs nothing for one with many.
 */
@OnEventLoop
final class OutboundAliases {

    /** Minimum length of a topic name that gets an alias. */
    private static final int SHORTEST_BYTES = 8;

    private final int maximum;
    private @Nullable Map<TopicName, Integer> aliases;
    private @Nullable TopicName last;
    private int lastAlias;
    private boolean isNew;

    OutboundAliases(int maximum) {
        this.maximum = maximum;
    }

    /** The alias of a topic, or 0; {@link #isNew()} then tells whether the client does not know it yet. */
    int aliasFor(TopicName topic) {
        isNew = false;
        if (topic == last) {
            return lastAlias;
        }
        if (maximum == 0 || topic.utf8().length < SHORTEST_BYTES) {
            return 0;
        }
        last = topic;
        lastAlias = assign(topic);
        return lastAlias;
    }

    private int assign(TopicName topic) {
        Map<TopicName, Integer> known = aliases;
        if (known == null) {
            known = new HashMap<>();
            aliases = known;
        }
        Integer alias = known.get(topic);
        if (alias != null) {
            return alias;
        }
        if (known.size() >= maximum) {
            return 0;
        }
        isNew = true;
        known.put(topic, known.size() + 1);
        return known.size();
    }

    boolean isNew() {
        return isNew;
    }
}
