// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import java.util.function.Consumer;

/**
 * Makes a module for each broker whose configuration asks for it. {@link BrokerComposition} finds providers by {@link
 * java.util.ServiceLoader}: a jar names its own in {@code META-INF/services/io.smqtt.ModuleProvider}. Has a public
 * constructor without parameters and no state; one broker is put together by one thread.
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
        /** Additions of the program or application around the broker. */
        HOST,
        /** Connections to other nodes. */
        CLUSTER,
        /** Traces, whose interceptor has to be the last one. */
        TRACES
    }

    /**
     * The name of the artifact, as {@link BrokerConfig#requiredModules()} has it.
     *
     * @return for instance {@code smqtt-cluster}
     */
    String name();

    /** {@return when the module is added} */
    Stage stage();

    /**
     * Tells whether an application that has brokers inside does without this module, because it has the same of its own: a
     * management port, for instance.
     *
     * @return true for a module of brokers that are a program
     */
    default boolean isForProgramsOnly() {
        return false;
    }

    /**
     * Tells whether a broker gets this module.
     *
     * @param config the configuration of the broker
     * @return true if the configuration asks for it
     */
    boolean isWanted(BrokerConfig config);

    /**
     * Makes the module of one broker. Nothing is opened, bound or started yet, but files may be read: blocks.
     *
     * @param config the configuration of the broker, which asks for the module
     * @return adds the module, and what belongs to it, to the builder; called at most once, may block
     * @throws ConfigurationException if the configuration cannot be followed
     */
    Consumer<BrokerBuilder> create(BrokerConfig config);

    /**
     * Looks for what {@link #create} would refuse, and leaves nothing behind. Blocks.
     *
     * @param config the configuration of a broker, which asks for the module
     * @throws ConfigurationException if the configuration cannot be followed, with all problems that were found
     */
    default void check(BrokerConfig config) {}
}
