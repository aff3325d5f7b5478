// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The size of a broker.
 *
 * @param listeners where each listener is bound, by its name
 * @param sessions the sessions of clients, connected or not; consumers in the process are none
 * @param connected those of them whose client is connected
 * @param subscriptions the subscriptions of this node, those of consumers in the process included
 */
public record BrokerSummary(Map<String, InetSocketAddress> listeners, int sessions, int connected, int subscriptions) {

    /** Copies the map. */
    public BrokerSummary {
        listeners = Collections.unmodifiableMap(new LinkedHashMap<>(listeners));
    }
}
