// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import java.util.function.Consumer;

/**
 * Creates a module for each broker whose configuration asks for it. {@link BrokerComposition} finds providers by
 * {@link java.util.ServiceLoader}: a jar lists its providers in {@code META-INF/services/io.smqtt.ModuleProvider}. A provider
 * has a public constructor without parameters and no state. A broker is composed by one thread.
 */
public interface ModuleProvider {

    /** The order in which modules are added to a broker. Within one stage the name decides. */
    enum Stage {
        /** The store. It is opened before anything else is prepared in the data directory. */
        STORE,
        /** Meters and health checks, which report on the modules after them while these start. */
        METRICS,
        /** The management port, which shows the meters while the modules after it start. */
        MANAGEMENT,
        /** Parts of the program or application around the broker. */
        HOST,
        /** Connections to other nodes. */
        CLUSTER,
        /** Traces, whose interceptor must be the last one. */
        TRACES
    }

    /**
     * The name of the artifact, as in {@link BrokerConfig#requiredModules()}.
     *
     * @return for instance {@code smqtt-cluster}
     */
    String name();

    /** {@return the stage at which the module is added} */
    Stage stage();

    /**
     * Whether brokers inside an application do not get this module, because the application has its own equivalent, such as a
     * management port.
     *
     * @return true for a module that is for programs only
     */
    default boolean isForProgramsOnly() {
        return false;
    }

    /**
     * Whether a broker gets this module.
     *
     * @param config the configuration of the broker
     * @return true if the configuration asks for it
     */
    boolean isWanted(BrokerConfig config);

    /**
     * Creates the module of one broker. Nothing is opened, bound or started yet, but files may be read: blocks. Files that a start may have to
     * write first, such as secrets, are read by what it returns.
     *
     * @param config the configuration of the broker, which asks for the module
     * @return adds the module and its parts to the builder; called at most once, may block. If it is {@link AutoCloseable}, it is closed instead
     *     of being called when the broker does not start, to release what the module has
     * @throws ConfigurationException if the configuration cannot be used
     */
    Consumer<BrokerBuilder> create(BrokerConfig config);

    /**
     * Creates the module of one broker, with parts that the application has made itself. A module that uses none ignores them.
     *
     * @param config as above
     * @param parts the parts of the application
     * @return as above
     * @throws ConfigurationException as above
     */
    default Consumer<BrokerBuilder> create(BrokerConfig config, ApplicationParts parts) {
        return create(config);
    }

    /**
     * Checks what {@link #create} would reject, without side effects. Blocks.
     *
     * @param config the configuration of a broker, which asks for the module
     * @throws ConfigurationException if the configuration cannot be used, with all problems that were found
     */
    default void check(BrokerConfig config) {}

    /**
     * Checks what {@link #create} would reject with parts of the application, without side effects. Blocks.
     *
     * @param config as above
     * @param parts the parts of the application
     * @throws ConfigurationException as above
     */
    default void check(BrokerConfig config, ApplicationParts parts) {
        check(config);
    }
}
