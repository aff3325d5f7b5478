// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.transport.BindFailedException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports the listener whose port is in use, and the key that changes the port. */
final class PortInUseAnalyzer extends AbstractFailureAnalyzer<BindFailedException> {

    // Ports that are none of clients, hence have no keys below smqtt.listeners.
    private static final String CLUSTER = "cluster";
    private static final String MANAGEMENT = "management";

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, BindFailedException cause) {
        return new FailureAnalysis(
                "The MQTT broker could not start: " + cause.getMessage() + ".",
                "Stop what listens on " + cause.address() + ", or " + remedy(cause.listener()),
                cause);
    }

    private static String remedy(String listener) {
        if (listener.equals(CLUSTER)) {
            return "set smqtt.cluster.bind, and with it smqtt.cluster.seeds of the other nodes.";
        }
        if (listener.equals(MANAGEMENT)) { // of a broker that the application gave a management port of its own
            return "do without the broker's management port: in an application the actuator serves health and metrics,"
                    + " on the port that management.server.port names.";
        }
        String key = "smqtt.listeners." + listener;
        return "set " + key + ".port (0 for any free port) and " + key + ".host, or " + key
                + ".enabled=false to do without this listener.";
    }
}
