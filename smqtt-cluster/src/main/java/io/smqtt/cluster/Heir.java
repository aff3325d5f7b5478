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
}
