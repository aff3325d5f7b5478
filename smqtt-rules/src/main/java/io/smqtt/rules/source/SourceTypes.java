// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.rules.sink.TypeKeys;
import io.smqtt.spi.ActionType;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** Finds the types of sources that are present: those of this module and those of extensions. */
final class SourceTypes {

    private static final String COMMON = "sources.<name>.";

    private SourceTypes() {}

    /** The declarations of all keys, for operators. */
    static List<ActionType> described(Collection<SourceFactory> factories) {
        List<ActionType.Key> common = TypeKeys.common(COMMON);
        return factories.stream()
                .map(factory -> new ActionType(factory.type(), TypeKeys.of(factory.settings()), common))
                .toList();
    }

    /**
     * Finds all types. Blocks.
     *
     * @param more those of an application, which come first
     * @return factories by type
     * @throws ConfigurationException if an extension cannot be loaded
     */
    static Map<String, SourceFactory> find(List<SourceFactory> more) {
        Map<String, SourceFactory> types = new TreeMap<>();
        for (SourceFactory factory : more) {
            if (types.putIfAbsent(factory.type(), factory) != null) {
                throw new ConfigurationException(
                        "sources", "two sources of the application have the type " + factory.type());
            }
        }
        ClassLoader own = SourceTypes.class.getClassLoader();
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        try {
            ServiceLoader.load(SourceFactory.class, context == null ? own : context)
                    .forEach(factory -> types.putIfAbsent(factory.type(), factory));
            ServiceLoader.load(SourceFactory.class, own).forEach(factory -> types.putIfAbsent(factory.type(), factory));
        } catch (ServiceConfigurationError | LinkageError e) {
            throw new ConfigurationException(
                    "sources", "an extension cannot be loaded, it may be for another version: " + e.getMessage());
        }
        return types;
    }
}
