// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The bridges of this node, for operators. Does not block. */
@AnyThread
public interface Bridges {

    /**
     * An operation of an operator. It lasts until the next one, or until the broker is started again; of a bridge that one of several
     * nodes connects, it is for all nodes and lasts until the next one.
     */
    enum Operation {
        /** Connects a bridge that was stopped. */
        START,
        /** Ends the connection; messages for the other broker wait in the queue. */
        STOP,
        /** Ends the connection, and begins a new one at once. */
        RESTART
    }

    /**
     * Returns the states of all bridges.
     *
     * @return a snapshot, by name
     */
    List<BridgeStatus> status();

    /**
     * Returns the state of one connection of a bridge.
     *
     * @param name its name, as in {@link BridgeStatus#name()}
     * @return a snapshot; null if there is no such connection
     */
    default @Nullable BridgeStatus status(String name) {
        return status().stream()
                .filter(status -> status.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /**
     * Begins an operation. A bridge that is in the wanted state already stays as it is.
     *
     * @param name the name of the bridge in the configuration, for all its connections, or the name of one of them but the first
     * @param operation the operation
     * @return false if there is no such bridge
     */
    boolean operate(String name, Operation operation);
}
