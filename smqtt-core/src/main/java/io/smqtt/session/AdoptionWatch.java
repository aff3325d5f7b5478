// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/** Observes the adoption of other nodes' stores. Must neither block nor throw. */
public interface AdoptionWatch {

    /**
     * The sessions of another node's store are sessions of this node, and their subscriptions are in effect. On any thread.
     *
     * @param home the other node
     * @param reign the number of the reign of this node over its store: later ones have greater numbers
     */
    void adopted(String home, long reign);

    /**
     * This node is about to forget the sessions of an adopted store. On any thread.
     *
     * @param home the other node
     * @param done runs when no message for them comes to this node any more; called once, on any thread
     */
    void ending(String home, Runnable done);
}
