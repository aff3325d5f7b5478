// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * The places of this node from which messages come into the broker, for operators: those of the configuration, and those that operators have made. Does
 * not block.
 */
@AnyThread
public interface Sources {

    /** An operation of an operator on this node. It lasts until the next one, until the source is replaced, or until the broker is started again. */
    enum Operation {
        /** Reads a source that was stopped. */
        START,
        /** Ends reading; what has not been taken waits where it is. */
        STOP,
        /** Ends reading, and begins again at once. */
        RESTART
    }

    /**
     * Returns the states of all sources.
     *
     * @return a snapshot, those of the configuration first, in their order; without those that are switched off. A source of an operator that this node
     *     cannot use is failing
     */
    List<SourceStatus> status();

    /**
     * Begins an operation. A source that is in the wanted state already stays as it is, and one that another node of the cluster has is read
     * nevertheless only there.
     *
     * @param name the name of the source
     * @param operation the operation
     * @return false if there is no such source
     */
    boolean operate(String name, Operation operation);

    /**
     * Checks whether this node reaches a source, without taking anything from it.
     *
     * @param name the name of the source
     * @return an empty text if it does, otherwise the reason, within some seconds; empty if there is no such source
     */
    Mono<String> probe(String name);

    /**
     * Returns the types of sources that are present.
     *
     * @return in alphabetical order
     */
    List<ActionType> types();

    /**
     * Checks whether a source that an operator wants could be read by this node. Nothing is taken from it, and nothing is kept.
     *
     * @param keys the keys of the source, {@code type} among them, with their texts
     * @return an empty text if it could, otherwise the reason, within some seconds; fails with {@link io.smqtt.config.ConfigurationException} if the keys
     *     cannot be used
     */
    Mono<String> probe(Map<String, String> keys);

    /**
     * Checks a source that an operator wants.
     *
     * @param name its name
     * @param keys the keys of {@code sources.<name>} that it has, with their texts
     * @return what is wrong, one sentence each; empty if it can be used. Nothing is kept
     */
    Mono<List<String>> check(String name, Map<String, String> keys);

    /**
     * Begins a source of an operator, or replaces it: the former one has ended before. Before the broker runs, the source begins with it. A source that this
     * node cannot use ends the former one, too, and is shown as failing.
     *
     * @param name its name
     * @param keys as {@link #check} has them
     * @return completes when the source is the present one; fails with {@link io.smqtt.config.ConfigurationException}
     */
    Mono<Void> put(String name, Map<String, String> keys);

    /**
     * Ends a source of an operator. Sources of the configuration stay.
     *
     * @param name its name
     * @return completes when it has ended and its resources, such as a port, are free; also if there is none
     */
    Mono<Void> remove(String name);
}
