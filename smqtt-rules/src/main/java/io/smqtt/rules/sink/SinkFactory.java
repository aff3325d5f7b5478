// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import java.util.List;

/**
 * Makes sinks of one type. Found by {@link java.util.ServiceLoader}: a jar lists its factories in
 * {@code META-INF/services/io.smqtt.rules.sink.SinkFactory}. A factory has a public constructor without parameters and no state.
 */
public interface SinkFactory {

    /**
     * The name of the type, {@code rules.<name>.actions.<name>.type}.
     *
     * @return for instance {@code http}
     */
    String type();

    /**
     * The keys of the type.
     *
     * @return their declarations, by which values are checked and documented
     */
    List<SinkSetting> settings();

    /**
     * The keys of files that a sink writes. No two actions may have the same file.
     *
     * @return names of declared keys of files; none by default
     */
    default List<String> writtenFiles() {
        return List.of();
    }

    /**
     * Makes a sink. May read files; opens no connection, starts no thread and changes nothing. Blocks.
     *
     * @param context the action with its checked settings
     * @return a sink, to be closed by the caller
     * @throws io.smqtt.config.ConfigurationException if settings contradict each other, or a file cannot be used
     */
    Sink open(SinkContext context);
}
