// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import java.util.function.Consumer;

/** The node that serves the sessions of a failed one, and receives the messages parked for that. */
@OnClusterLoop
interface Heir {

    /**
     * Takes a message, behind those before it.
     *
     * @param message the message
     * @param homes the nodes whose sessions are to get it, see {@link Homes}
     * @param taken receives on the cluster's loop, once, maybe at once, whether the node has accepted it, so that it need not be kept for the failed node any more
     */
    void take(ApplicationMessage message, String homes, Consumer<Boolean> taken);

    /**
     * All messages that are queued for the node up to now are parked for the failed one, too. Later ones wait until {@link #letGo}, behind those that it
     * {@linkplain #take takes}.
     *
     * @param holder for {@link #letGo}
     * @return false if that is not possible now
     */
    boolean hold(Object holder);

    /**
     * Ends the wait of {@link #hold}: the messages that have waited are sent.
     *
     * @param holder that of {@link #hold}; no effect if the node was unreachable since
     */
    void letGo(Object holder);
}
