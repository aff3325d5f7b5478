// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.spi.ClientIdentity;

/** The topics of the broker itself. Filters that begin with a wildcard never match them. */
final class SystemTopics {

    private static final String BRIDGE = "$SYS/broker/connection/";
    private static final String STATE = "/state";

    private SystemTopics() {}

    /** Whether a topic name or filter is $SYS, $event, $events, or below one of them: state of the broker. */
    static boolean isStatus(String topic) {
        return isSys(topic) || isEvent(topic);
    }

    /** Whether a topic name or filter is $SYS or below it: figures of the broker. */
    static boolean isSys(String topic) {
        return isBelow("$SYS", topic);
    }

    /** Whether a topic name or filter is $event, $events or below them: events of single clients. */
    static boolean isEvent(String topic) {
        return isBelow("$event", topic) || isBelow("$events", topic);
    }

    /** Whether a topic name or filter is $smqtt or below it: state that no client can reach, whatever its rights. */
    static boolean isHidden(String topic) {
        return isBelow("$smqtt", topic);
    }

    /** Whether a topic name or filter is $CONTROL or below it. */
    static boolean isControl(String topic) {
        return isBelow("$CONTROL", topic);
    }

    /**
     * Whether a topic name is the one in which a bridge publishes its state, retained and as its will:
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
