// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.util.List;
import reactor.core.publisher.Mono;

/** The places of this node from which messages come into the broker, for operators. Does not block. */
@AnyThread
public interface Sources {

    /** An operation of an operator on this node. It lasts until the next one, or until the broker is started again. */
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
     * @return a snapshot, in the order of the configuration
     */
    List<SourceStatus> status();

    /**
     * Begins an operation. A source that is in the wanted state already stays as it is, and one that another node of the cluster has is read
     * nevertheless only there.
     *
     * @param name the name of the source in the configuration
     * @param operation the operation
     * @return false if there is no such source
     */
    boolean operate(String name, Operation operation);

    /**
     * Checks whether this node reaches a source, without taking anything from it.
     *
     * @param name the name of the source in the configuration
     * @return an empty text if it does, otherwise the reason, within some seconds; empty if there is no such source
     */
    Mono<String> probe(String name);
}
