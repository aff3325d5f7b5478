// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.transport.BindFailedException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which listener has no port, and by which key it gets another. */
final class PortInUseAnalyzer extends AbstractFailureAnalyzer<BindFailedException> {

    private static final String CLUSTER = "cluster"; // which is no listener of clients

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, BindFailedException cause) {
        if (cause.listener().equals(CLUSTER)) {
            return new FailureAnalysis(
                    "The MQTT broker could not start: " + cause.getMessage() + ".",
                    "Stop what listens on " + cause.address()
                            + ", or set smqtt.cluster.bind, and with it smqtt.cluster.seeds " + "of the other nodes.",
                    cause);
        }
        String key = "smqtt.listeners." + cause.listener();
        return new FailureAnalysis(
                "The MQTT broker could not start: " + cause.getMessage() + ".",
                "Stop what listens on " + cause.address() + ", or set " + key + ".port (0 for any free port) and " + key
                        + ".host, or " + key + ".enabled=false to do without this listener.",
                cause);
    }
}
