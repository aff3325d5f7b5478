// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import java.util.List;

/**
 * Makes sources of one type. Found by {@link java.util.ServiceLoader}: a jar lists its factories in
 * {@code META-INF/services/io.smqtt.rules.sink.SourceFactory}. A factory has a public constructor without parameters and no state.
 */
public interface SourceFactory {

    /**
     * The name of the type, {@code sources.<name>.type}.
     *
     * @return for instance {@code http}
     */
    String type();

    /**
     * The keys of the type, {@code sources.<name>.*}.
     *
     * @return their declarations, by which values are checked and documented
     */
    List<SinkSetting> settings();

    /**
     * Makes a source. May read files; opens no connection, starts no thread and changes nothing. Blocks.
     *
     * @param context the source with its checked settings
     * @return a source, to be closed by the caller
     * @throws io.smqtt.config.ConfigurationException if settings contradict each other, or a file cannot be used
     */
    Source open(SourceContext context);
}
