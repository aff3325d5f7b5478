// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * All that the properties below {@code smqtt.} say, bound to the one schema. There are no classes with setters beside it:
 * the records of {@code io.smqtt.config} are the schema, for the program and for the starter.
 */
final class SmqttProperties {

    /** Keys of what the program has, and what the actuator and the application's registry stand for here. */
    static final List<String> PORT = List.of(
            "management.host",
            "management.port",
            "management.token-file",
            "management.tls.certificate",
            "management.tls.key",
            "management.otlp.url",
            "management.otlp.headers",
            "management.otlp.interval",
            "management.influx.url",
            "management.influx.database",
            "management.influx.user",
            "management.influx.password",
            "management.influx.org",
            "management.influx.bucket",
            "management.influx.token",
            "management.influx.interval",
            "management.tracing.url",
            "management.tracing.headers",
            "management.tracing.share");

    private final BrokerConfig broker;
    private final SpringSettings spring;

    private SmqttProperties(BrokerConfig broker, SpringSettings spring) {
        this.broker = broker;
        this.spring = spring;
    }

    static ConfigSchema schema() {
        return ConfigSchema.of(BrokerConfig.defaults(), SpringSettings.defaults());
    }

    /**
     * Reads and checks.
     *
     * @throws ConfigurationException with all problems at once, and where each value came from
     */
    static SmqttProperties of(ConfigurableEnvironment environment) {
        ConfigSchema schema = schema();
        Map<String, ConfigValue> values = PropertyReader.read(environment, schema);
        List<String> problems = new ArrayList<>();
        for (String key : PORT) {
            ConfigValue value = values.remove(key);
            if (value != null) {
                problems.add(value.origin() + ": " + key + " has no use in a Spring application, whose actuator shows "
                        + "metrics and health");
            }
        }
        try {
            List<Record> bound = ConfigBinder.bind(schema, values);
            if (problems.isEmpty()) {
                return new SmqttProperties((BrokerConfig) bound.get(0), (SpringSettings) bound.get(1));
            }
        } catch (ConfigurationException e) {
            problems.addAll(e.problems());
        }
        throw new ConfigurationException(problems);
    }

    BrokerConfig broker() {
        return broker;
    }

    SpringSettings.Embedded spring() {
        return spring.spring();
    }
}
