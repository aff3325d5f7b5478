// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.transport.BindFailedException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which listener has no port, and by which key it gets another. */
final class PortInUseAnalyzer extends AbstractFailureAnalyzer<BindFailedException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, BindFailedException cause) {
        String key = "smqtt.listeners." + cause.listener();
        return new FailureAnalysis(
                "The MQTT broker could not start: " + cause.getMessage() + ".",
                "Stop what listens on " + cause.address() + ", or set " + key + ".port (0 for any free port) and " + key
                        + ".host, or " + key + ".enabled=false to do without this listener.",
                cause);
    }
}
