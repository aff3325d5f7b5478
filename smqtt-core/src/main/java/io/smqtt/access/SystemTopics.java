// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.spi.ClientIdentity;

/** The topics that belong to the broker, not to its clients. Filters that begin with a wildcard never reach them. */
final class SystemTopics {

    private static final String BRIDGE = "$SYS/broker/connection/";
    private static final String STATE = "/state";

    private SystemTopics() {}

    /** Tells whether a topic name or filter is one by which the broker tells of itself: $SYS, $event, or below them. */
    static boolean isStatus(String topic) {
        return isSys(topic) || isEvent(topic);
    }

    /** Tells whether a topic name or filter is $SYS or below it: figures of the whole broker. */
    static boolean isSys(String topic) {
        return isBelow("$SYS", topic);
    }

    /** Tells whether a topic name or filter is $event or below it: what single clients do. */
    static boolean isEvent(String topic) {
        return isBelow("$event", topic);
    }

    /** Tells whether a topic name or filter is $CONTROL or below it. */
    static boolean isControl(String topic) {
        return isBelow("$CONTROL", topic);
    }

    /**
     * Tells whether a topic name is the one by which a bridge tells whether it is connected, retained and as its will:
     * {@code $SYS/broker/connection/<its client identifier>/state}, as with mosquitto.
     */
    static boolean isOwnBridgeState(ClientIdentity client, String topic) {
        String clientId = client.clientId();
        return topic.length() == BRIDGE.length() + clientId.length() + STATE.length()
                && topic.startsWith(BRIDGE)
                && topic.startsWith(clientId, BRIDGE.length())
                && topic.endsWith(STATE);
    }

    private static boolean isBelow(String root, String topic) {
        return topic.startsWith(root) && (topic.length() == root.length() || topic.charAt(root.length()) == '/');
    }
}
