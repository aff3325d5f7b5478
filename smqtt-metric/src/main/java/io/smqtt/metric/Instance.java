// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.config.BrokerConfig;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Tags that tell this broker from others that push to the same place. */
final class Instance {

    private Instance() {}

    /** {@return the name of the node, else of the host; may look it up} */
    static String of(BrokerConfig broker) {
        String nodeId = broker.cluster().nodeId();
        if (nodeId != null) {
            return nodeId;
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }
}
