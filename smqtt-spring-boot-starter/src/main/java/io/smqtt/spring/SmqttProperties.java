// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import io.smqtt.admin.EmbeddedManagement;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.security.ConfigRoutes;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * All that the properties below {@code smqtt.} say, bound to the one schema. There are no classes with setters beside it:
 * the records of {@code io.smqtt.config} are the schema, for the program and for the starter. Applications can have it
 * injected; the endpoint {@code configprops} of the actuator lists it. Immutable, for any thread.
 */
// There is nothing that Spring could set: the annotation is for the endpoint, which asks for all beans that have it.
@ConfigurationProperties("smqtt")
public final class SmqttProperties {

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
            "management.tracing.share",
            "legacy.management-paths");

    private final BrokerConfig broker;
    private final SpringSettings spring;
    private final Function<BrokerConfig, BrokerConfig> used;
    private final Map<String, String> origins;

    private SmqttProperties(
            BrokerConfig broker,
            SpringSettings spring,
            Function<BrokerConfig, BrokerConfig> used,
            Map<String, String> origins) {
        this.origins = Map.copyOf(origins);
        this.broker = broker;
        this.spring = spring;
        this.used = used;
    }

    static ConfigSchema schema() {
        return ConfigSchema.of(BrokerConfig.defaults(), SpringSettings.defaults());
    }

    /**
     * Reads and checks.
     *
     * @param used what the broker runs with, given what the properties say
     * @throws ConfigurationException with all problems at once, and where each value came from
     */
    static SmqttProperties of(ConfigurableEnvironment environment, Function<BrokerConfig, BrokerConfig> used) {
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
                Map<String, String> origins = new LinkedHashMap<>();
                values.forEach((key, value) -> origins.put(key, value.origin()));
                return new SmqttProperties((BrokerConfig) bound.get(0), (SpringSettings) bound.get(1), used, origins);
            }
        } catch (ConfigurationException e) {
            problems.addAll(e.problems());
        }
        throw new ConfigurationException(problems);
    }

    /**
     * The broker's part. The broker runs with it unless the application has a {@link BrokerConfig} bean of its own.
     *
     * @return what the properties say, and defaults for the rest
     */
    public BrokerConfig broker() {
        return broker;
    }

    /**
     * The part of the application around the broker.
     *
     * @return what the properties say, and defaults for the rest
     */
    public SpringSettings.Embedded spring() {
        return spring.spring();
    }

    /**
     * What programs written for the former smqtt expect.
     *
     * @return what the properties say, and defaults for the rest
     */
    public SpringSettings.Legacy legacy() {
        return spring.legacy();
    }

    /**
     * The API and the dashboard within the application.
     *
     * @return what the properties say, and defaults for the rest
     */
    public SpringSettings.EmbeddedManagement embedded() {
        return spring.management().embedded();
    }

    /** What the embedded API is made with; null if it has no path. */
    EmbeddedManagement.@Nullable Settings management() {
        SpringSettings.EmbeddedManagement embedded = embedded();
        String path = embedded.path();
        if (path == null) {
            return null;
        }
        SpringSettings.Roles roles = embedded.roles();
        return new EmbeddedManagement.Settings(
                path,
                Map.of(
                        Role.ADMINISTRATOR, Set.copyOf(roles.administrator()),
                        Role.OPERATOR, Set.copyOf(roles.operator()),
                        Role.VIEWER, Set.copyOf(roles.viewer()),
                        Role.PUBLISHER, Set.copyOf(roles.publisher())),
                values());
    }

    /** What the broker runs with, and where it comes from. */
    private List<ConfigRoutes.Value> values() {
        List<ConfigRoutes.Value> all = new ArrayList<>();
        ConfigSchema.values(used.apply(broker), spring).forEach((key, text) -> {
            if (!PORT.contains(key)) {
                all.add(new ConfigRoutes.Value(key, text, origins.getOrDefault(key, "default")));
            }
        });
        return all;
    }

    /** What the broker runs with, by key, for the endpoint: texts in nested blocks, secrets masked. */
    @JsonAnyGetter
    Map<String, Object> effective() {
        Map<String, Object> blocks = new LinkedHashMap<>();
        ConfigSchema.values(used.apply(broker), spring).forEach((key, text) -> {
            if (!PORT.contains(key)) {
                put(blocks, key, text);
            }
        });
        return blocks;
    }

    @SuppressWarnings("unchecked")
    private static void put(Map<String, Object> blocks, String key, String text) {
        int dot = key.indexOf('.');
        if (dot < 0) {
            blocks.put(key, text);
        } else {
            Object block = blocks.computeIfAbsent(key.substring(0, dot), unused -> new LinkedHashMap<>());
            put((Map<String, Object>) block, key.substring(dot + 1), text);
        }
    }
}
