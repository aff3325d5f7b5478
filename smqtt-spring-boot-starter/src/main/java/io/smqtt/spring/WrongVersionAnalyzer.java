// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports the dependency versions that the build must override. */
final class WrongVersionAnalyzer extends AbstractFailureAnalyzer<WrongVersionException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, WrongVersionException cause) {
        return new FailureAnalysis(
                "The MQTT broker cannot run: " + cause.getMessage() + ".",
                "Override the versions that Spring Boot manages: " + String.join(", ", cause.overrides())
                        + " (with spring-boot-starter-parent as properties of the pom.xml, with the Gradle plugin as "
                        + "ext['name'] = 'version').",
                cause);
    }
}
