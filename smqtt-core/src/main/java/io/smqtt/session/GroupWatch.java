// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.topic.SharedFilter;

/**
 * Is told of shared groups whose members could stand in for each other across nodes. Called on event loops, also again and again for the
 * same group; must neither block nor throw.
 */
public interface GroupWatch {

    /**
     * A member of this node has come, or nothing waits for it any more; and other nodes that can be reached have members too, which may
     * be absent and have messages.
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
