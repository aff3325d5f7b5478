// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Listeners and counts of a broker. Immutable.
 *
 * @param listeners the bound address by name of the listener
 * @param sessions number of sessions of clients, online and offline, without in-process consumers
 * @param connected number of connected clients
 * @param subscriptions number of subscriptions of this node, in-process consumers included
 */
public record BrokerSummary(Map<String, InetSocketAddress> listeners, int sessions, int connected, int subscriptions) {

    /** Copies the map. */
    public BrokerSummary {
        listeners = Collections.unmodifiableMap(new LinkedHashMap<>(listeners));
    }
}
