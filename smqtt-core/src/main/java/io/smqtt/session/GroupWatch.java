// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.topic.SharedFilter;

/**
 * Observes shared groups whose members on different nodes can take each other's messages. Called on event loops, also
 * repeatedly for the same group; must neither block nor throw.
 */
public interface GroupWatch {

    /**
     * A member of this node has connected, or its queue is empty, and messages are known to wait elsewhere, or reachable nodes have members
     * too. Those may be absent and have messages.
     *
     * @param group the group
     */
    void wanted(SharedFilter group);

    /**
     * A message waits here for an absent member.
     *
     * @param group the group
     * @param elsewhere whether other nodes that can be reached have members
     */
    void held(SharedFilter group, boolean elsewhere);
}
