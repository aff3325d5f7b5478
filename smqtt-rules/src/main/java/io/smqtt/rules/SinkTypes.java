// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.SinkFactory;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** Finds the types of sinks that are present: those of this module and those of extensions. */
final class SinkTypes {

    private SinkTypes() {}

    /** Those of the class path. */
    static Map<String, SinkFactory> find() {
        return find(List.of());
    }

    /**
     * Finds all types. Blocks.
     *
     * @param more those of an application, which come first
     * @return factories by type
     * @throws ConfigurationException if an extension cannot be loaded
     */
    static Map<String, SinkFactory> find(List<SinkFactory> more) {
        Map<String, SinkFactory> types = new TreeMap<>();
        for (SinkFactory factory : more) {
            if (types.putIfAbsent(factory.type(), factory) != null) {
                throw new ConfigurationException(
                        "rules", "two sinks of the application have the type " + factory.type());
            }
        }
        ClassLoader own = SinkTypes.class.getClassLoader();
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        try {
            ServiceLoader.load(SinkFactory.class, context == null ? own : context)
                    .forEach(factory -> types.putIfAbsent(factory.type(), factory));
            ServiceLoader.load(SinkFactory.class, own).forEach(factory -> types.putIfAbsent(factory.type(), factory));
        } catch (ServiceConfigurationError | LinkageError e) {
            throw new ConfigurationException(
                    "rules", "an extension cannot be loaded, it may be for another version: " + e.getMessage());
        }
        return types;
    }
}
