// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import java.util.List;

/** Observes the adoption of other nodes' stores. Must neither block nor throw. */
public interface AdoptionWatch {

    /** In the place of filters: sessions with any filter are left out. No filter is empty. */
    String EVERYTHING = "";

    /**
     * The sessions of another node's store are sessions of this node, and their subscriptions are in effect. On any thread.
     *
     * @param home the other node
     * @param reign the number of the reign of this node over its store: later ones have greater numbers
     * @param leftOut the filters of sessions in the store that are not adopted, and get messages of other nodes; only {@link #EVERYTHING} if
     *     there are many; empty if all sessions are adopted
     * @param parked what the other node has kept for absent nodes, in the adopted store: to be written until {@link #ending} has called its task
     */
    void adopted(String home, long reign, List<String> leftOut, NodeQueues parked);

    /**
     * This node is about to forget the sessions of an adopted store. On any thread.
     *
     * @param home the other node
     * @param done runs when no message for them comes to this node any more; called once, on any thread
     */
    void ending(String home, Runnable done);
}
