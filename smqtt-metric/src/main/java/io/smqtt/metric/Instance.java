// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.config.BrokerConfig;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Tags that identify this broker among others that push to the same receiver. */
final class Instance {

    private Instance() {}

    /** {@return the name of the node, otherwise of the host; may block on a name lookup} */
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
