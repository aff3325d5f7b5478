// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.SharedFilter;
import java.util.function.Consumer;

/**
 * The deliveries to members of shared groups on all nodes. Asked for messages that their publishers have {@linkplain ApplicationMessage#isRepeated() sent
 * again} only: the node that has routed such a message before may have chosen another member.
 */
@FunctionalInterface
public interface EarlierDeliveries {

    /**
     * Whether a group has taken a message. On the publisher's event loop; must not block.
     *
     * @param message the message, with its identifier
     * @param group the group
     * @param taken receives once, on any thread, maybe during this call, whether a member of the group on some node, or its queue there, has taken the
     *     message; false if no node knows of one
     */
    void find(ApplicationMessage message, SharedFilter group, Consumer<Boolean> taken);
}
