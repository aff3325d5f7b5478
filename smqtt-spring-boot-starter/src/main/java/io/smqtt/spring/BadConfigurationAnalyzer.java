// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.ConfigurationException;
import java.util.stream.Collectors;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports the problems of keys below {@code smqtt.}, with their origin. */
final class BadConfigurationAnalyzer extends AbstractFailureAnalyzer<ConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ConfigurationException cause) {
        String problems = cause.problems().stream()
                .map(problem -> "    - " + problem)
                .collect(Collectors.joining(System.lineSeparator()));
        return new FailureAnalysis(
                "The MQTT broker cannot use its configuration, the properties below smqtt.:" + System.lineSeparator()
                        + System.lineSeparator() + problems,
                action(String.valueOf(cause.getMessage())),
                cause);
    }

    private static String action(String message) {
        if (message.contains("smqtt-persistence") || message.contains("smqtt-cluster")) {
            return "Add the modules that are named to the dependencies of the application: their group is io.smqtt.";
        }
        return "Correct the properties. All keys are listed in docs/configuration.md of smqtt.";
    }
}
